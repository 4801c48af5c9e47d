import { FIRST_AGENT } from '../../interpret/new-run.ts';
import { shellWord } from '../../model/shell-word.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { StepKey } from '../../ports.ts';

/** The step that a person names: `main:4`, or `4` for the first agent. */
export function stepNamed(text: string, run: string): StepKey {
  const [, agent = FIRST_AGENT, step = ''] = /^(?:(.+):)?([1-9]\d{0,8})$/.exec(text) ?? [];
  if (step !== '') return { agent, step: Number(step) };
  throw wrongUsage(
    `"${text}" is not the name of a step.`,
    `Write an agent and a step, such as main:3. To see the steps: raymond show ${shellWord(run)} --steps`,
  );
}
