import type { StartRequest } from '../../src/serve/shapes/requests.ts';

/** What a person typed. */
export interface StartForm {
  readonly workflow: string;
  readonly input: string;
  readonly budget: string;
  readonly variables: string;
  /** Whether tool calls wait for decisions. */
  readonly asks: boolean;
  readonly rehearse: boolean;
  /** To a run that may cost more than the configuration allows. */
  readonly isAgreed: boolean;
}

/** Leaves out what was not typed, so that the settings of the project apply. */
export function startRequest(form: StartForm): StartRequest {
  const budget = moneyOf(form.budget);
  const lines = form.variables.split('\n').filter((line) => line.trim() !== '');
  const set = Object.fromEntries(lines.map(pairOf));
  return {
    workflow: form.workflow.trim(),
    ...(form.input === '' ? {} : { input: form.input }),
    ...(budget === undefined ? {} : { budget }),
    ...(lines.length === 0 ? {} : { set }),
    ...(form.asks ? { ask_permissions: true } : {}),
    ...(form.rehearse ? { rehearse: true } : {}),
    ...(form.isAgreed ? { confirm_above: 0 } : {}),
  };
}

/** Undefined if nothing was typed. */
export function moneyOf(text: string): number | undefined {
  const trimmed = text.trim().replace(',', '.');
  return trimmed === '' ? undefined : Number(trimmed);
}

function pairOf(line: string): readonly [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1)];
}
