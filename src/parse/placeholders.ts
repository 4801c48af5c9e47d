/**
 * The names that Raymond fills in: `{{name}}` in prompts, and `RAYMOND_NAME` in the environment of
 * scripts. The reference is made from these tables.
 */

/** These contain the value that a state receives. */
export const VALUE_NAMES = ['result', 'input'] as const;

const STEP_NAMES = [
  'workflow_id',
  'agent_id',
  'state',
  'task_folder',
  'trigger',
  'answer_files',
] as const;

/** What the session before this one left. Only prompts have it. */
const HANDOVER_NAME = 'handover';

/** Only for states with notes. */
const NOTES_NAME = 'notes_folder';

export const GIVEN_NAMES = [...VALUE_NAMES, ...STEP_NAMES, HANDOVER_NAME, NOTES_NAME] as const;

/** A script gets these in any case, and the others if the state received a value. */
export const SCRIPT_STEP_NAMES = [...STEP_NAMES, 'attempt'] as const;

export const SCRIPT_NAMES = [
  ...SCRIPT_STEP_NAMES,
  ...VALUE_NAMES,
  'result_file',
  NOTES_NAME,
] as const;

/** Only in the prompt of a judge. */
export const JUDGE_NAMES = ['output', 'transition'] as const;

export type GivenName = (typeof GIVEN_NAMES)[number];
export type ScriptStepName = (typeof SCRIPT_STEP_NAMES)[number];
export type JudgeName = (typeof JUDGE_NAMES)[number];
type ScriptName = (typeof SCRIPT_NAMES)[number];

export const MEANINGS: Readonly<Record<GivenName | ScriptName | JudgeName, string>> = {
  workflow_id: "the run's id",
  agent_id: "the agent's name",
  state: "the state's file name",
  task_folder: "the agent's own folder, outside of the project",
  trigger: 'what started the run: an occasion of a trigger, or "a person"',
  notes_folder: 'the folder with the notes of the run, in states with notes',
  answer_files: 'the paths of the files that came with an answer, one on each line',
  attempt: 'the number of the attempt, from 1',
  result: 'the value that the state received, if there is one',
  input: 'the same value',
  result_file: 'a file with that value, if there is one',
  handover: 'what the session before this one handed over, in the first prompt after a compact',
  output: 'in the prompt of a judge: the judged answer',
  transition: 'in the prompt of a judge: the judged tags',
};

/** A name is a word without spaces inside the braces. A path after it reaches into a value that is JSON. */
export const PLACEHOLDER = /\{\{([A-Za-z_][A-Za-z0-9_]*)((?:\.[^\s{}.]+)*)\}\}/g;

/** The keys and positions of the path of a placeholder. */
export function pathOf(written: string | undefined): readonly string[] {
  return (written ?? '').split('.').slice(1);
}

export function isGivenName(name: string): name is GivenName {
  return GIVEN_NAMES.some((given) => given === name);
}

/** The environment variable with its value, for scripts. */
export function variableOf(name: ScriptName): string {
  return `RAYMOND_${name.toUpperCase()}`;
}

/** Matches a use of the received value in a prompt. */
export const USE_OF_VALUE = new RegExp(
  `\\{\\{(?:${VALUE_NAMES.join('|')})(?:\\.[^\\s{}.]+)*\\}\\}`,
);

/** Matches a use of the received value in a script. */
export const USE_OF_VALUE_IN_SCRIPT = new RegExp(VALUE_NAMES.map(variableOf).join('|'));
