/** What starts a workflow without a person: the key `triggers` of a manifest. */
import {
  type FilesTrigger,
  type JsonScalar,
  MISSED,
  OVERLAPS,
  type PayloadMatch,
  type ScheduleTrigger,
  SIGNATURES,
  type Trigger,
  triggerName,
  type WebhookTrigger,
} from '../model/trigger.ts';
import { clip } from './clip.ts';
import { scheduleProblem, timezoneProblem } from './cron.ts';
import { isSecretName } from './rights.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** The keys of each kind. The first one decides the kind. */
export const TRIGGER_KEYS = {
  schedule: ['schedule', 'timezone', 'overlap', 'missed'],
  webhook: ['webhook', 'secret', 'signature', 'unsigned', 'match', 'overlap'],
  files: ['files', 'overlap'],
} as const satisfies Readonly<Record<Trigger['kind'], readonly string[]>>;

export function readTriggers(
  reader: YamlReader,
  field: Field,
): { readonly triggers?: readonly Trigger[] } {
  const triggers = new Map<string, Trigger>();
  for (const item of reader.entries(field, 'a list of triggers, like - schedule: "30 3 * * *"')) {
    const trigger = readTrigger(reader, item);
    if (!trigger) continue;
    const name = triggerName(trigger);
    // Each has one place in the ledger.
    if (triggers.has(name))
      reader.error('same-trigger', item.offset, `The trigger "${clip(name)}" exists twice.`, {
        remedy: 'Remove one of them.',
      });
    else triggers.set(name, trigger);
  }
  if (triggers.size > MOST_TRIGGERS)
    reader.error('bad-value', field.offset, `A workflow has at most ${MOST_TRIGGERS} triggers.`);
  return { triggers: [...triggers.values()].slice(0, MOST_TRIGGERS) };
}

const MOST_TRIGGERS = 100;

function readTrigger(reader: YamlReader, item: Item): Trigger | undefined {
  const expected = 'a map with schedule, webhook or files';
  const fields = reader.fields(item, 'A trigger', expected);
  if (!fields) return undefined;
  const kinds = KINDS.filter((kind) => fields.some(({ key }) => key === kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) return reader.mismatch(item, 'A trigger', expected);
  const before = reader.errorCount();
  for (const field of fields) {
    const keys: readonly string[] = TRIGGER_KEYS[kind];
    // A misspelt key would start runs that the author did not want.
    if (!keys.includes(field.key))
      reader.unknownKey(field, keys, `A trigger with ${kind}`, 'error');
  }
  const trigger = READERS[kind](reader, (key) => fields.find((one) => one.key === key));
  return reader.errorCount() > before ? undefined : trigger;
}

type Find = (key: string) => Field | undefined;

const READERS = { schedule: readSchedule, webhook: readWebhook, files: readFiles };
const KINDS = ['schedule', 'webhook', 'files'] as const;

function readSchedule(reader: YamlReader, find: Find): ScheduleTrigger | undefined {
  const schedule = textOf(reader, find('schedule'))?.trim().split(/\s+/).join(' ');
  const timezone = textOf(reader, find('timezone'));
  const overlap = wordOf(reader, find('overlap'), OVERLAPS) ?? 'skip';
  const missed = wordOf(reader, find('missed'), MISSED) ?? 'once';
  if (schedule === undefined) return undefined;
  const problem = scheduleProblem(schedule);
  if (problem)
    return reader.error(
      problem.code,
      find('schedule')?.offset ?? 0,
      `The schedule "${clip(schedule)}" ${problem.code === 'never-due' ? 'never comes' : 'cannot be read'}: ${problem.message}.`,
      { remedy: 'Write minute, hour, day, month and weekday, like "30 3 * * 1-5".' },
    );
  const unknown = timezone === undefined ? undefined : timezoneProblem(timezone);
  if (unknown !== undefined)
    return reader.error('unknown-timezone', find('timezone')?.offset ?? 0, `${upper(unknown)}.`, {
      remedy: 'Write a name like Europe/Berlin or UTC.',
    });
  return {
    ...{ kind: 'schedule', schedule, overlap, missed },
    ...(timezone !== undefined && { timezone }),
  };
}

function readWebhook(reader: YamlReader, find: Find): WebhookTrigger | undefined {
  const field = find('webhook');
  const name = textOf(reader, field);
  const secret = textOf(reader, find('secret'));
  const signature = wordOf(reader, find('signature'), SIGNATURES);
  const unsigned = find('unsigned');
  const isUnsigned = unsigned !== undefined && reader.boolean(unsigned, 'unsigned') === true;
  const match = readMatch(reader, find('match'));
  const overlap = wordOf(reader, find('overlap'), OVERLAPS) ?? 'queue';
  if (field === undefined || name === undefined) return undefined;
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name))
    return reader.mismatch(field, 'webhook', 'a word of letters, digits, hyphens and underscores');
  const secretField = find('secret');
  if (secretField && secret !== undefined && !isSecretName(secret))
    return reader.mismatch(secretField, 'secret', 'the name of a secret, like GITHUB_WEBHOOK');
  if (secret === undefined && !isUnsigned)
    return reader.error('no-secret', field.offset, `The webhook ${name} has no secret.`, {
      remedy:
        'Add secret: NAME, and set it with raymond secret set NAME. To accept deliveries of anybody, add unsigned: true.',
    });
  if (secret !== undefined && isUnsigned)
    return reader.error('no-secret', field.offset, `The webhook ${name} is signed and unsigned.`, {
      remedy: 'Remove unsigned: true, or the secret.',
    });
  return {
    ...{ kind: 'webhook', name, match, overlap },
    ...(secret !== undefined && { secret }),
    ...(signature !== undefined && { signature }),
  };
}

function readMatch(reader: YamlReader, field: Field | undefined): PayloadMatch {
  if (!field || reader.isEmpty(field)) return {};
  const expected = 'a map of paths to values, like { action: [opened, labeled] }';
  const entries = reader.fields(field, 'match', expected) ?? [];
  return Object.fromEntries(
    entries.flatMap((entry): [string, JsonScalar | readonly JsonScalar[]][] => {
      const value = reader.value(entry, entry.key);
      if (isScalar(value)) return [[entry.key, value]];
      if (Array.isArray(value) && value.every(isScalar)) return [[entry.key, value]];
      if (value !== undefined)
        reader.mismatch(entry, `match.${clip(entry.key)}`, 'a value, or a list of values');
      return [];
    }),
  );
}

function isScalar(value: unknown): value is JsonScalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function readFiles(reader: YamlReader, find: Find): FilesTrigger | undefined {
  const field = find('files');
  const written = textOf(reader, field);
  const overlap = wordOf(reader, find('overlap'), OVERLAPS) ?? 'queue';
  if (field === undefined || written === undefined) return undefined;
  const pattern = written.replace(/^(\.\/+)+/, '').replaceAll(/\/{2,}/g, '/');
  const parts = pattern.split('/');
  const remedy = 'Write a path in the project, like inbox/*.md.';
  // What is in these two belongs to Raymond and to git, however deep they are.
  const isForeign = parts.some((part) => /^(?:\.\.|\.raymond|\.git)$/i.test(part));
  if (/^[/~\\]|^[A-Za-z]:/.test(pattern) || isForeign)
    return reader.error(
      'files-outside',
      field.offset,
      `The files "${clip(written)}" are not in the project.`,
      { remedy },
    );
  const isGood =
    parts.every((part) => part !== '' && part !== '.') &&
    parts.slice(0, -1).every((part) => !/[*?]/.test(part)) &&
    parts.length > 1 &&
    !/[\\\0[\]{}!]/.test(pattern);
  // A file at the top has done/ and failed/ beside it in the project itself, which is hardly meant.
  if (!isGood)
    return reader.mismatch(
      field,
      'files',
      'a folder and a name that may have * and ?, like inbox/*.md',
    );
  return { kind: 'files', pattern, overlap };
}

function textOf(reader: YamlReader, field: Field | undefined): string | undefined {
  return field && reader.text(field, field.key);
}

function wordOf<W extends string>(
  reader: YamlReader,
  field: Field | undefined,
  words: readonly W[],
): W | undefined {
  if (!field) return undefined;
  const expected = words.join(', ').replace(/, (\w+)$/, ' or $1');
  const text = reader.text(field, field.key, expected);
  const word = words.find((one) => one === text);
  if (text !== undefined && word === undefined) reader.mismatch(field, field.key, expected);
  return word;
}

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
