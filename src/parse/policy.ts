import type { Policy } from '../model/workflow.ts';
import { EFFORTS, isModel, MODELS } from './agent-names.ts';
import { clip } from './clip.ts';
import { readEvaluator } from './evaluators.ts';
import { implicitTag } from './implicit.ts';
import { nearest } from './nearest.ts';
import { readPermissionMode, readTools } from './permissions.ts';
import { readPinned } from './pinned-transition.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

export const NO_POLICY: Policy = { forceImplicit: false, onInterrupt: 'continue', evaluators: [] };

/** What a prompt state may say of itself. Keys that are not its own are left to the caller. */
export function readPolicy(reader: YamlReader, fields: readonly Field[]): Policy {
  let policy = NO_POLICY;
  for (const field of fields) {
    policy = { ...policy, ...READERS.get(field.key)?.(reader, field) };
  }
  const forced = fields.find(({ key }) => key === 'force_implicit');
  if (forced && policy.forceImplicit && reader.errorCount() === 0 && !implicitTag(policy)) {
    reader.error(
      'force-implicit',
      forced.keyOffset,
      'force_implicit takes the only allowed transition, and here there is not exactly one that is complete.',
      {
        remedy:
          'Keep one entry in allowed_transitions with everything its tag needs, or remove force_implicit.',
      },
    );
  }
  return policy;
}

type ReadKey = (reader: YamlReader, field: Field) => Partial<Policy>;

const READERS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>([
  ['allowed_transitions', readAllowed],
  ['model', readModel],
  ['effort', readEffort],
  ['timeout', readTimeout],
  ['force_implicit', readForceImplicit],
  ['max_visits', readMaxVisits],
  ['on_interrupt', readOnInterrupt],
  ['evaluators', readEvaluators],
  ['allowed_tools', readAllowedTools],
  ['disallowed_tools', readDisallowedTools],
  ['permission_mode', readPermissionMode],
]);

export const POLICY_KEYS: readonly string[] = [...READERS.keys()];

function readAllowed(reader: YamlReader, field: Field): Partial<Policy> {
  const entries = reader.isEmpty(field)
    ? []
    : reader.items(field, field.key, 'a list like [{tag: goto, target: NEXT}]');
  if (!entries) return {};
  if (entries.length === 0) {
    reader.warn(
      'empty-list',
      field.keyOffset,
      'allowed_transitions is empty, so all are allowed.',
      {
        remedy: 'List what may be written, or remove the key.',
      },
    );
    return {};
  }
  const what = 'An entry of allowed_transitions';
  return { allowed: entries.flatMap((entry) => readPinned(reader, entry, what) ?? []) };
}

function readModel(reader: YamlReader, field: Field): Partial<Policy> {
  const expected = `${MODELS.join(', ')} or a full claude-… id`;
  const model = reader.text(field, 'model', expected);
  if (model === undefined) return {};
  if (isModel(model)) return { model };
  const meant = nearest(model, MODELS);
  reader.error('unknown-model', field.offset, `There is no model "${clip(model)}".`, {
    remedy: meant ? `Did you mean ${meant}?` : `Write ${expected}.`,
    nearest: meant,
  });
  return {};
}

function readEffort(reader: YamlReader, field: Field): Partial<Policy> {
  const effort = reader.text(field, 'effort', 'low, medium or high');
  if (effort === undefined) return {};
  if (!/^[A-Za-z][\w-]{0,31}$/.test(effort)) {
    reader.mismatch(field, 'effort', 'low, medium or high');
    return {};
  }
  if (!EFFORTS.includes(effort)) {
    const meant = nearest(effort, EFFORTS);
    reader.warn('unknown-effort', field.offset, `"${effort}" is no effort that Raymond knows.`, {
      remedy: meant ? `Did you mean ${meant}?` : 'It is passed on; see whether the agent knows it.',
      nearest: meant,
    });
  }
  return { effort };
}

function readTimeout(reader: YamlReader, field: Field): Partial<Policy> {
  const fits = (value: number) => value >= 0 && Number.isSafeInteger(Math.round(value * 1000));
  const seconds = reader.number(field, 'timeout', 'a number of seconds, or 0 for none', fits);
  return seconds === undefined ? {} : { idleTimeoutMs: Math.round(seconds * 1000) };
}

function readForceImplicit(reader: YamlReader, field: Field): Partial<Policy> {
  const forceImplicit = reader.boolean(field, 'force_implicit');
  return forceImplicit === undefined ? {} : { forceImplicit };
}

function readMaxVisits(reader: YamlReader, field: Field): Partial<Policy> {
  const fits = (value: number) => Number.isSafeInteger(value) && value >= 1;
  const maxVisits = reader.number(field, 'max_visits', 'a whole number from 1 up', fits);
  return maxVisits === undefined ? {} : { maxVisits };
}

function readOnInterrupt(reader: YamlReader, field: Field): Partial<Policy> {
  const written = reader.text(field, 'on_interrupt', 'continue or restart');
  if (written === undefined) return {};
  if (written === 'continue' || written === 'restart') return { onInterrupt: written };
  reader.mismatch(field, 'on_interrupt', 'continue or restart');
  return {};
}

function readEvaluators(reader: YamlReader, field: Field): Partial<Policy> {
  const entries = reader.isEmpty(field) ? [] : reader.items(field, 'evaluators', 'a list');
  return { evaluators: (entries ?? []).flatMap((entry) => readEvaluator(reader, entry) ?? []) };
}

function readAllowedTools(reader: YamlReader, field: Field): Partial<Policy> {
  const allowedTools = readTools(reader, field);
  return allowedTools ? { allowedTools } : {};
}

function readDisallowedTools(reader: YamlReader, field: Field): Partial<Policy> {
  const disallowedTools = readTools(reader, field);
  return disallowedTools ? { disallowedTools } : {};
}
