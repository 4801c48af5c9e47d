import type { AgentDeclaration } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { About, Policy, State } from '../model/workflow.ts';
import { NO_POLICY, policyKeys, readPolicy } from './policy.ts';
import { type Extension, extensionOf, INTERPRETERS, isStateFile } from './state.ts';
import { stateNameProblem } from './transition.ts';
import { variableProblem } from './variables.ts';
import { type Field, isError, YamlReader } from './yaml-reader.ts';

export interface YamlWorkflow {
  readonly id?: string;
  readonly about: About;
  /** Absent when the faults of the text hide the states. */
  readonly states?: readonly State[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a workflow from one YAML text. */
export function readYamlWorkflow(
  file: string,
  text: string,
  agent: AgentDeclaration,
): YamlWorkflow {
  const reader = new YamlReader(file, text);
  const unreadable = reader.errorCount() > 0;
  const fields = unreadable
    ? undefined
    : reader.fields(reader.root, 'A workflow', 'a map with the key states');
  if (!fields) return { about: {}, diagnostics: reader.takeFaults() };

  for (const field of fields) {
    if (!WORKFLOW_KEYS.some((key) => key === field.key))
      reader.unknownKey(field, WORKFLOW_KEYS, 'A workflow');
  }
  const head = readHead(reader, fields);
  const stateFields = readStates(reader, fields);
  const diagnostics = reader.takeFaults();
  if (!stateFields) return { ...head, diagnostics };
  const readings = stateFields.map((field) => readForms(reader, file, field, agent));
  return {
    ...head,
    states: readings.flatMap(({ states }) => states),
    diagnostics: [...diagnostics, ...readings.flatMap((reading) => reading.diagnostics)],
  };
}

export const WORKFLOW_KEYS = [
  'id',
  'name',
  'description',
  'input',
  'default_budget',
  'environment',
  'states',
] as const;

function readHead(
  reader: YamlReader,
  fields: readonly Field[],
): Pick<YamlWorkflow, 'id' | 'about'> {
  let id: string | undefined;
  let about: About = {};
  for (const field of fields) {
    if (field.key === 'id') id = readId(reader, field);
    else about = { ...about, ...readAbout(reader, field) };
  }
  return id === undefined ? { about } : { id, about };
}

function readId(reader: YamlReader, field: Field): string | undefined {
  const id = reader.text(field, 'id', 'a word');
  if (id === undefined || /^[A-Za-z0-9][\w.-]{0,99}$/.test(id)) return id;
  return reader.mismatch(field, 'id', 'a word of letters, digits, dots, hyphens and underscores');
}

function readAbout(reader: YamlReader, field: Field): About {
  if (field.key === 'default_budget') {
    const fits = (value: number) => Number.isFinite(value) && value >= 0;
    const defaultBudgetUsd = reader.number(field, 'default_budget', 'an amount of USD', fits);
    if (defaultBudgetUsd === 0) {
      const message =
        'default_budget: 0 has no effect: a workflow cannot make the budget unlimited.';
      reader.warn('unused-key', field.offset, message, {
        remedy: 'Remove it. The user can run the workflow with --budget 0.',
      });
    }
    return defaultBudgetUsd ? { defaultBudgetUsd } : {};
  }
  if (field.key === 'environment') return { environment: readEnvironment(reader, field) };
  const property = TEXT_KEYS.get(field.key);
  const text = property && reader.text(field, field.key);
  return property && text !== undefined ? { [property]: text } : {};
}

const TEXT_KEYS: ReadonlyMap<string, 'title' | 'description' | 'input'> = new Map([
  ['name', 'title'],
  ['description', 'description'],
  ['input', 'input'],
] as const);

function readEnvironment(reader: YamlReader, field: Field): Record<string, string> {
  const variables = reader.fields(field, 'environment', 'a map of names to values') ?? [];
  const good = variables.flatMap((variable): [string, string][] => {
    const problem = variableProblem(variable.key);
    if (problem) reader.error('bad-name', variable.keyOffset, `${problem}.`);
    const value = reader.text(variable, variable.key);
    return problem || value === undefined ? [] : [[variable.key, value]];
  });
  return Object.fromEntries(good);
}

function readStates(reader: YamlReader, fields: readonly Field[]): readonly Field[] | undefined {
  const field = fields.find(({ key }) => key === 'states');
  if (field) return reader.fields(field, 'states', 'a map of names to states');
  return reader.error('no-states', reader.root.offset, 'The workflow has no states.', {
    remedy: 'Write states:, and under it START: with a prompt.',
  });
}

/** The files that a state would have in a folder: its prompt, or a script for each platform. */
function readForms(
  reader: YamlReader,
  file: string,
  field: Field,
  agent: AgentDeclaration,
): FormsReading {
  if (!checkName(reader, field)) return { states: [], diagnostics: reader.takeFaults() };
  const keys = reader.fields(field, field.key, 'a map with prompt, sh, bat or ps1') ?? [];
  const forms = keys.flatMap((key) => {
    const extension = FORMS.get(key.key);
    return extension ? [{ key, extension }] : [];
  });
  checkForms(reader, field, forms);
  const policyFields = keys.filter(({ key }) => !FORMS.has(key));
  const policy = readStateKeys(reader, policyFields, forms, agent);
  const states = forms.flatMap((form) => readForm(reader, file, field.key, form, policy) ?? []);

  const diagnostics = reader.takeFaults();
  if (!diagnostics.some(isError)) return { states, diagnostics };
  const extensions = forms.length > 0 ? forms.map(({ extension }) => extension) : ['.md'];
  const names = extensions.map((extension) => field.key + extension).filter(isStateFile);
  return { states: names.map((name) => ({ kind: 'broken', name, diagnostics })), diagnostics: [] };
}

interface FormsReading {
  readonly states: readonly State[];
  /** Without the diagnostics that broken states hold. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Form {
  readonly key: Field;
  readonly extension: Extension;
}

const FORMS: ReadonlyMap<string, Extension> = new Map([
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
  agent: AgentDeclaration,
): Policy {
  const known = policyKeys(agent);
  const isScript = forms.some(({ extension }) => extension !== '.md');
  for (const field of fields) {
    if (!known.includes(field.key)) {
      reader.unknownKey(field, [...FORMS.keys(), ...known], 'A state');
    } else if (isScript) {
      reader.warn('unused-key', field.keyOffset, `${field.key} has no effect on a script.`, {
        remedy: 'Remove it.',
      });
    }
  }
  return isScript ? NO_POLICY : readPolicy(reader, fields, agent);
}

function readForm(
  reader: YamlReader,
  file: string,
  stem: string,
  { key, extension }: Form,
  policy: Policy,
): State | undefined {
  const text = reader.text(key, key.key);
  const name = stem + extension;
  if (text === undefined || !isStateFile(name)) return undefined;
  const line = reader.contentLine(key);
  if (extension === '.md') {
    return { kind: 'prompt', name, template: text, templateLine: line, file, policy };
  }
  const interpreter = INTERPRETERS[extension];
  return { kind: 'script', name, text, origin: { file, line }, interpreter };
}
