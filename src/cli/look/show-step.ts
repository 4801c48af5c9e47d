/** The conversation of a step, for `raymond show RUN AGENT:STEP`. */
import { followStep, lookAtStep } from '../../app/look.ts';
import type { StepShape } from '../../look/step-shape.ts';
import type { Part } from '../../observe/screen.ts';
import type { StepKey } from '../../ports.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';
import { checkParts, endParts, messagesParts, stepParts } from './step-parts.ts';

export interface ShowStepOptions {
  readonly json?: boolean | undefined;
  readonly follow?: boolean | undefined;
}

export async function showStep(
  around: Surroundings,
  id: string,
  key: StepKey,
  { json, follow }: ShowStepOptions,
): Promise<number> {
  let looked = await lookAtStep(around, id, key);
  if (json) {
    const { step, checks, isAbandoned } = looked;
    stdout.json({ ...step, checks, abandoned: isAbandoned }, 2);
    return 0;
  }
  say(stepParts(looked, Date.now()));
  if (follow && looked.step.outcome === null) {
    let last = looked.step.messages.at(-1);
    for await (const news of followStep(around, looked.step)) {
      if (news.kind !== 'messages') continue;
      say(messagesParts(news.messages, { before: last, cwd: looked.cwd }));
      last = news.messages.at(-1) ?? last;
    }
    looked = await lookAtStep(around, id, key);
  }
  say([...endParts(looked.step), ...looked.checks.flatMap(checkParts)]);
  return 0;
}

/** Prints what a step was told, and what it said and did. */
export function printSaid(step: StepShape): void {
  say(stepParts({ step, isAbandoned: false }, Date.now()));
  stdout.say('');
}

function say(parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.kind === 'line') stdout.say(part.text);
    else stdout.quote(part.text, part.tone);
  }
}
