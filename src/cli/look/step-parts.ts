/** The conversation of a step in parts, for `raymond show RUN AGENT:STEP` and for the live view. */
import type { LookedAtStep } from '../../app/look.ts';
import type { StepShape } from '../../look/step-shape.ts';
import type { StepMessage } from '../../model/conversation.ts';
import { counted } from '../../model/counted.ts';
import { takerText } from '../../model/limits.ts';
import { refusedText, remedyFor, rightsText } from '../../model/rights-text.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Part, Text, Tone } from '../../observe/screen.ts';
import { duration, oneLine, time, usd } from '../../observe/words.ts';
import { relativeTo } from '../../view/agent-text.ts';
import type { DiffLine } from '../../view/line-diff.ts';
import { toolView } from '../../view/tool-view.ts';

/** The step, its prompt, and its messages so far. */
export function stepParts(
  { step, isAbandoned, cwd }: Omit<LookedAtStep, 'checks'>,
  now: number,
): readonly Part[] {
  const { agent, state, task, attempt, executor, prompt, messages, omitted, kept } = step;
  const taker = step.lane ? takerText(step.lane.name, step.lane.passed) : executor;
  const how = [
    ...(task === 'state' ? [] : [TASKS[task]]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(step.kind === 'prompt' && taker !== null ? [`by ${taker}`] : []),
    ...(isAbandoned ? ['abandoned by a rewind'] : []),
  ];
  const about = how.length > 0 ? ` (${how.join(', ')})` : '';
  const started = time(Date.parse(step.started_at), now);
  return [
    line([{ text: `${agent}:${step.step} ${state}${about}, started ${started}`, tone: 'strong' }]),
    ...(step.rights
      ? [line([{ text: `rights: ${oneLine(rightsText(step.rights))}`, tone: 'faint' }])]
      : []),
    ...(kept ? [] : [EMPTY, line('Its records are gone: only the journal tells of it.')]),
    ...(prompt && prompt.text !== ''
      ? block(step.kind === 'prompt' ? 'prompt' : 'input', prompt.text, prompt.omitted)
      : []),
    ...(omitted > 0 ? [EMPTY, line(`${counted(omitted, 'earlier message')} left out`)] : []),
    ...messagesParts(messages, { cwd }),
  ];
}

export const TASKS = {
  reminder: 'reminder',
  continuation: 'continued',
  judge: 'judge',
  check: 'check',
  handover: 'handover',
  fill: 'fill',
} as const;

export interface Shown {
  /** The message before these, if it was shown already. Output that continues has one head. */
  readonly before?: StepMessage | undefined;
  /** The directory of the agent: paths in it are shown without it. */
  readonly cwd?: string | undefined;
}

export function messagesParts(
  messages: readonly StepMessage[],
  { before, cwd = '' }: Shown,
): readonly Part[] {
  return messages.flatMap((message, i) => {
    const last = i === 0 ? before : messages[i - 1];
    const continues = message.kind === 'stdout' || message.kind === 'stderr';
    return continues && last?.kind === message.kind
      ? quote(message.text, message.omitted)
      : messageParts(message, cwd);
  });
}

function messageParts(message: StepMessage, cwd: string): readonly Part[] {
  switch (message.kind) {
    case 'text':
      return block('says', message.text, message.omitted);
    case 'thinking':
      return block('thinks', message.text, message.omitted, 'faint');
    case 'tool-call': {
      const who = message.inner ? 'an agent of its own calls' : 'calls';
      const call = oneLine(`${message.name} ${relativeTo(cwd, message.summary)}`.trim());
      return [
        EMPTY,
        line([
          { text: `${who} `, tone: 'faint' },
          { text: call, tone: 'plain' },
        ]),
        ...inputParts(message.text),
      ];
    }
    case 'tool-result':
      return quote(message.text, message.omitted, 'faint', message.failed ? 'failed' : undefined);
    case 'person':
      return block('a person says', message.text, message.omitted);
    case 'note':
      return [EMPTY, line([{ text: oneLine(message.text), tone: 'warning' }])];
    // A line for each answer of the model would hide what the agent said.
    case 'turn':
      return [];
    case 'stdout':
      return block('output', message.text, message.omitted);
    case 'stderr':
      return block('errors', message.text, message.omitted);
    default:
      return unreachable(message);
  }
}

/** The lines that a call changes, or a command of several lines. The line of the call has no room for them. */
function inputParts(input: string): readonly Part[] {
  const view = toolView(input);
  switch (view.kind) {
    case 'change':
      return view.lines.map(({ kind, text }) => {
        const [mark, tone] = CHANGES[kind];
        return { kind: 'quote', text: `${mark}${text}`, tone };
      });
    case 'command':
      return view.command.trim().includes('\n') ? quote(view.command, 0) : [];
    case 'input':
      return [];
    default:
      return unreachable(view);
  }
}

const CHANGES: Readonly<Record<DiffLine['kind'], readonly [mark: string, tone: Tone]>> = {
  removed: ['- ', 'bad'],
  added: ['+ ', 'good'],
  same: ['  ', 'faint'],
  gap: ['…', 'faint'],
};

export function checkParts({ step, messages, outcome, started_at }: StepShape): readonly Part[] {
  const exit = outcome === null ? 'runs' : `exit ${outcome.exit ?? '?'}`;
  const took = outcome ? `, ${duration(Date.parse(outcome.at) - Date.parse(started_at))}` : '';
  return [
    EMPTY,
    line(`check, step ${step} (${exit}${took})`),
    ...messages.flatMap((one) => ('text' in one ? quote(one.text, one.omitted) : [])),
  ];
}

export function endParts({ outcome, started_at, kind, state }: StepShape): readonly Part[] {
  if (outcome === null) return [EMPTY, line('It is not over.')];
  const { cost_usd: cost, cost_is_estimate: isEstimate, model, failure, denied, refused } = outcome;
  const worked = duration(Date.parse(outcome.at) - Date.parse(started_at));
  const price = kind === 'prompt' ? `, ${usd(cost, isEstimate)}` : '';
  const tone = outcome.kind === 'ended' ? 'good' : 'bad';
  return [
    EMPTY,
    line([
      { text: `${outcome.kind} (${worked}${price}${model ? `, ${oneLine(model)}` : ''})`, tone },
    ]),
    ...(failure ? quote(failure.message, 0) : []),
    ...denied.map((call) => line([{ text: `denied: ${oneLine(call)}`, tone: 'warning' }])),
    ...refused.map((one) =>
      line([
        {
          text: `refused: ${oneLine(refusedText([one]))}. ${remedyFor([one], state)}`,
          tone: 'warning',
        },
      ]),
    ),
  ];
}

const line = (text: Text): Part => ({ kind: 'line', text });
const EMPTY = line('');

export function block(
  head: string,
  text: string,
  omitted: number,
  tone: Tone = 'plain',
): readonly Part[] {
  return [EMPTY, line([{ text: head, tone: 'faint' }]), ...quote(text, omitted, tone)];
}

function quote(
  text: string,
  omitted: number,
  tone: Tone = 'plain',
  mark?: string,
): readonly Part[] {
  return [
    ...(mark === undefined ? [] : [line([{ text: `  ${mark}`, tone: 'bad' }])]),
    ...(text.trim() === '' ? [] : [{ kind: 'quote', text, tone } as const]),
    ...(omitted > 0 ? [line([{ text: `  ${omitted} more characters`, tone: 'faint' }])] : []),
  ];
}
