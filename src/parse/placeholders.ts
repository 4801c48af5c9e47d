/**
 * The names that Raymond fills in: `{{name}}` in prompts, and `RAYMOND_NAME` in the environment of
 * scripts.
 */

/** These hold the value that a state receives. */
export const VALUE_NAMES = ['result', 'input'] as const;

export const GIVEN_NAMES = [
  ...VALUE_NAMES,
  'workflow_id',
  'agent_id',
  'state',
  'task_folder',
] as const;

export type GivenName = (typeof GIVEN_NAMES)[number];

/** Only in the prompt of a judge. */
export const JUDGE_NAMES = ['output', 'transition'] as const;

/** A name is a word without spaces inside the braces. */
export const PLACEHOLDER = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;

export function isGivenName(name: string): name is GivenName {
  return GIVEN_NAMES.some((given) => given === name);
}

/** The variable that holds it in the environment of a script. */
export function variableOf(name: GivenName): string {
  return `RAYMOND_${name.toUpperCase()}`;
}

/** Matches a use of the received value in a prompt. */
export const USE_OF_VALUE = new RegExp(`\\{\\{(?:${VALUE_NAMES.join('|')})\\}\\}`);

/** Matches a use of the received value in a script. */
export const USE_OF_VALUE_IN_SCRIPT = new RegExp(VALUE_NAMES.map(variableOf).join('|'));
