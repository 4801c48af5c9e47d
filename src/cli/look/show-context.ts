/** What the model saw at the end of a step, for `raymond show RUN AGENT:STEP --context`. */
import { lookAtContext } from '../../app/look.ts';
import { CONTEXT_KINDS, CONTEXT_WORDS } from '../../model/context-kinds.ts';
import { oneLine } from '../../observe/words.ts';
import type { StepKey } from '../../ports.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';
import { TASKS } from './step-parts.ts';

export async function showContext(
  around: Surroundings,
  id: string,
  key: StepKey,
  { json }: { readonly json?: boolean | undefined },
): Promise<number> {
  const context = await lookAtContext(around, id, key);
  if (json) {
    stdout.json(context, 2);
    return 0;
  }
  const { tokens, reported, kinds, steps } = context;
  const about = reported ? 'tokens' : 'tokens, estimated from the length of the texts';
  stdout.say(`${context.agent}:${context.step}: the model saw ${number(tokens)} ${about}`, '');
  for (const kind of CONTEXT_KINDS) {
    if (kinds[kind] > 0) stdout.say(row(CONTEXT_WORDS[kind], kinds[kind], tokens));
  }
  stdout.say('');
  for (const one of steps) {
    const task = one.task === 'state' ? '' : ` (${TASKS[one.task]})`;
    const name = oneLine(`${one.agent}:${one.step} ${one.state}${task}`, WIDTH);
    stdout.say(row(name, one.tokens, tokens));
  }
  return 0;
}

const WIDTH = 32;
const BAR = 30;

function row(name: string, tokens: number, all: number): string {
  const part = all === 0 ? 0 : tokens / all;
  const bar = '█'.repeat(Math.max(tokens > 0 ? 1 : 0, Math.round(part * BAR)));
  const share = `${Math.round(part * 100)}%`.padStart(4);
  return `${name.padEnd(WIDTH)} ${number(tokens).padStart(9)} ${share} ${bar}`.trimEnd();
}

const number = (count: number) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
