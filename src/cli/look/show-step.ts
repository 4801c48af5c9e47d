/** The conversation of a step, for `raymond show RUN AGENT:STEP`. */
import { followStep, type LookedAtStep, lookAtStep } from '../../app/look.ts';
import type { StepShape } from '../../look/step-shape.ts';
import type { StepMessage } from '../../model/conversation.ts';
import { counted } from '../../model/counted.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Tone } from '../../observe/screen.ts';
import { duration, oneLine, time, usd } from '../../observe/words.ts';
import type { StepKey } from '../../ports.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';

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
  const looked = await lookAtStep(around, id, key);
  if (json) {
    const { step, checks, isAbandoned } = looked;
    stdout.json({ ...step, checks, abandoned: isAbandoned }, 2);
    return 0;
  }
  sayStep(looked);
  if (follow && looked.step.outcome === null) {
    for await (const news of followStep(around, looked.step))
      if (news.kind === 'messages') news.messages.forEach(sayMessage);
    const ended = await lookAtStep(around, id, key);
    sayEnd(ended.step);
    ended.checks.forEach(sayCheck);
    return 0;
  }
  sayEnd(looked.step);
  looked.checks.forEach(sayCheck);
  return 0;
}

function sayStep({ step, isAbandoned }: LookedAtStep): void {
  const { agent, state, task, attempt, executor, prompt, messages, omitted, kept } = step;
  const how = [
    ...(task === 'state' ? [] : [TASKS[task]]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(step.kind === 'prompt' && executor !== null ? [`by ${executor}`] : []),
    ...(isAbandoned ? ['abandoned by a rewind'] : []),
  ];
  const about = how.length > 0 ? ` (${how.join(', ')})` : '';
  const started = time(Date.parse(step.started_at), Date.now());
  stdout.say(`${agent}:${step.step} ${state}${about}, started ${started}`);
  if (!kept) stdout.say('', 'Its records are gone: only the journal tells of it.');
  if (prompt && prompt.text !== '')
    block(step.kind === 'prompt' ? 'prompt' : 'input', prompt.text, prompt.omitted);
  if (omitted > 0) stdout.say('', `${counted(omitted, 'earlier message')} left out`);
  messages.forEach(sayMessage);
}

const TASKS = {
  reminder: 'reminder',
  continuation: 'continued after an interruption',
  judge: 'judge',
  check: 'check',
} as const;

function sayMessage(message: StepMessage): void {
  switch (message.kind) {
    case 'text':
      block('says', message.text, message.omitted);
      break;
    case 'thinking':
      block('thinks', message.text, message.omitted, 'faint');
      break;
    case 'tool-call': {
      const who = message.inner ? 'an agent of its own calls' : 'calls';
      const call = oneLine(`${message.name} ${message.summary}`.trim());
      stdout.say('', [
        { text: `${who} `, tone: 'faint' },
        { text: call, tone: 'plain' },
      ]);
      break;
    }
    case 'tool-result':
      quote(message.text, message.omitted, message.failed ? 'failed' : undefined);
      break;
    case 'note':
      stdout.say('', [{ text: oneLine(message.text), tone: 'warning' }]);
      break;
    case 'stdout':
      block('output', message.text, message.omitted);
      break;
    case 'stderr':
      block('errors', message.text, message.omitted);
      break;
    default:
      unreachable(message);
  }
}

function sayCheck({ step, messages, outcome, started_at }: StepShape): void {
  const exit = outcome === null ? 'runs' : `exit ${outcome.exit ?? '?'}`;
  const took = outcome ? `, ${duration(Date.parse(outcome.at) - Date.parse(started_at))}` : '';
  stdout.say('', `check, step ${step} (${exit}${took})`);
  for (const message of messages) if ('text' in message) quote(message.text, message.omitted);
}

function sayEnd({ outcome, started_at, kind }: StepShape): void {
  if (outcome === null) {
    stdout.say('', 'It is not over.');
    return;
  }
  const { cost_usd: cost, cost_is_estimate: isEstimate, failure, denied } = outcome;
  const worked = duration(Date.parse(outcome.at) - Date.parse(started_at));
  const price = kind === 'prompt' ? `, ${usd(cost, isEstimate)}` : '';
  const tone = outcome.kind === 'ended' ? 'good' : 'bad';
  stdout.say('', [{ text: `${outcome.kind} (${worked}${price})`, tone }]);
  if (failure) quote(failure.message, 0);
  for (const call of denied) stdout.say([{ text: `denied: ${oneLine(call)}`, tone: 'warning' }]);
}

function block(head: string, text: string, omitted: number, tone: Tone = 'faint'): void {
  stdout.say('', [{ text: head, tone }]);
  quote(text, omitted);
}

function quote(text: string, omitted: number, mark?: string): void {
  if (mark !== undefined) stdout.say([{ text: `  ${mark}`, tone: 'bad' }]);
  if (text.trim() !== '') stdout.quote(text);
  if (omitted > 0) stdout.say([{ text: `  ${omitted} more characters`, tone: 'faint' }]);
}
