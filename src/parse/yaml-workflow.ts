import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { About, Limits, Policy, State } from '../model/workflow.ts';
import { withUsual } from './chosen-agent.ts';
import { LIMIT_KEYS, readLimits } from './limits.ts';
import { MANIFEST_KEYS } from './manifest.ts';
import { NO_POLICY, policyKeys, readPolicy } from './policy.ts';
import { otherShebang, shebangOf } from './shebang.ts';
import { type Extension, extensionOf, INTERPRETERS, isStateFile, README } from './state.ts';
import { stateNameProblem } from './transition.ts';
import { readHead } from './workflow-head.ts';
import { type Field, isError, YamlReader } from './yaml-reader.ts';

interface YamlWorkflow {
  readonly about: About;
  /** Absent when the faults of the text hide the states. */
  readonly states?: readonly State[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a workflow from one YAML text. */
export function readYamlWorkflow(file: string, text: string, agents: Agents): YamlWorkflow {
  const reader = new YamlReader(file, text);
  const unreadable = reader.errorCount() > 0;
  const fields = unreadable
    ? undefined
    : reader.fields(reader.root, 'A workflow', 'a map with the key states', MANIFEST_KEYS);
  if (!fields) return { about: {}, diagnostics: reader.takeFaults() };
  const about = readHead(reader, fields, agents);
  const stateFields = readStates(reader, fields);
  const diagnostics = reader.takeFaults();
  if (!stateFields) return { about, diagnostics };
  const chosen = withUsual(agents, about.agent);
  const readings = stateFields.map((field) => readForms(reader, file, field, chosen));
  return {
    about,
    states: readings.flatMap(({ states }) => states),
    diagnostics: [...diagnostics, ...readings.flatMap((reading) => reading.diagnostics)],
  };
}

function readStates(reader: YamlReader, fields: readonly Field[]): readonly Field[] | undefined {
  const field = fields.find(({ key }) => key === 'states');
  if (field) return reader.fields(field, 'states', 'a map of names to states');
  return reader.error('no-states', reader.root.offset, 'The workflow has no states.', {
    remedy: 'Write states:, and under it START: with a prompt.',
  });
}

/** The files that a state would have in a folder: its prompt, or a script for each platform. */
function readForms(reader: YamlReader, file: string, field: Field, agents: Agents): FormsReading {
  if (!checkName(reader, field)) return { states: [], diagnostics: reader.takeFaults() };
  const keys = reader.fields(field, field.key, 'a map with prompt, sh, bat or ps1') ?? [];
  const forms = keys.flatMap((key) => {
    const extension = FORMS.get(key.key);
    return extension ? [{ key, extension }] : [];
  });
  checkForms(reader, field, forms);
  const stateKeys = keys.filter(({ key }) => !FORMS.has(key));
  const rules = readStateKeys(reader, stateKeys, forms, agents);
  const states = forms.flatMap((form) => readForm(reader, file, field.key, form, rules) ?? []);

  const diagnostics = reader.takeFaults();
  if (!diagnostics.some(isError)) return { states, diagnostics };
  // Reading either kind would also make every name of the state ambiguous.
  const isPrompt = forms.length === 0 || forms.some(({ extension }) => extension === '.md');
  const extensions = isPrompt ? ['.md'] : forms.map(({ extension }) => extension);
  const names = extensions.map((extension) => field.key + extension).filter(isStateFile);
  return { states: names.map((name) => ({ kind: 'broken', name, diagnostics })), diagnostics: [] };
}

interface FormsReading {
  readonly states: readonly State[];
  /** Without the diagnostics of broken states. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Form {
  readonly key: Field;
  readonly extension: Extension;
}

export const FORMS: ReadonlyMap<string, Extension> = new Map([
  ['prompt', '.md'],
  ['sh', '.sh'],
  ['bat', '.bat'],
  ['ps1', '.ps1'],
] as const);

function checkName(reader: YamlReader, { key, keyOffset }: Field): boolean {
  const problem = stateNameProblem(key);
  const extension = extensionOf(key);
  if (problem) {
    reader.error('bad-name', keyOffset, `${problem}.`);
  } else if (extension !== undefined) {
    const stem = key.slice(0, -extension.length);
    const message = `"${key}" has an extension, but states in a YAML workflow have none.`;
    reader.error('bad-name', keyOffset, message, { remedy: `Write ${stem}.`, nearest: stem });
  } else if (key.startsWith('.')) {
    reader.error('bad-name', keyOffset, `"${key}" begins with a dot, as hidden files do.`);
  } else if (`${key}.md` === README) {
    const message = `"${key}" is not the name of a state: ${README} describes a workflow.`;
    reader.error('bad-name', keyOffset, message, { remedy: 'Choose another name.' });
  } else {
    return true;
  }
  return false;
}

function checkForms(reader: YamlReader, { key, keyOffset }: Field, forms: readonly Form[]): void {
  const prompt = forms.find(({ extension }) => extension === '.md');
  if (forms.length === 0 && reader.errorCount() === 0) {
    reader.error('no-kind', keyOffset, `The state ${key} has neither a prompt nor a script.`, {
      remedy: 'Write prompt:, or sh: (bat:, ps1: for Windows).',
    });
  }
  if (prompt && forms.length > 1) {
    const message = `The state ${key} is both a prompt and a script.`;
    reader.error('two-kinds', prompt.key.keyOffset, message, {
      remedy: 'Split it into two states.',
    });
  }
}

function readStateKeys(
  reader: YamlReader,
  fields: readonly Field[],
  forms: readonly Form[],
  agents: Agents,
): StateRules {
  const known = policyKeys(agents);
  const isScript = forms.some(({ extension }) => extension !== '.md');
  for (const field of fields) {
    if (!known.includes(field.key)) {
      reader.unknownKey(field, [...FORMS.keys(), ...known], 'A state');
    } else if (isScript && !LIMIT_KEYS.includes(field.key)) {
      reader.warn('unused-key', field.keyOffset, `${field.key} has no effect on a script.`, {
        remedy: 'Remove it.',
      });
    }
  }
  return isScript
    ? { policy: NO_POLICY, limits: readLimits(reader, fields) }
    : { policy: readPolicy(reader, fields, agents), limits: {} };
}

/** A prompt has a policy, and a script has limits. */
interface StateRules {
  readonly policy: Policy;
  readonly limits: Limits;
}

function readForm(
  reader: YamlReader,
  file: string,
  stem: string,
  { key, extension }: Form,
  { policy, limits }: StateRules,
): State | undefined {
  const text = reader.text(key, key.key);
  const name = stem + extension;
  if (text === undefined || !isStateFile(name)) return undefined;
  const place = { file, ...reader.contentPlace(key, text) };
  if (extension === '.md') return { kind: 'prompt', name, template: text, place, policy };
  const interpreter = INTERPRETERS[extension];
  const shebang = interpreter === 'bash' ? shebangOf(text) : undefined;
  if (shebang?.kind === 'other') {
    const { code, message, remedy } = otherShebang(name, shebang.named);
    return reader.error(code, key.offset, message, { remedy });
  }
  return { kind: 'script', name, text, place, interpreter, limits };
}
