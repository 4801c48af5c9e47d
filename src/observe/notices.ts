/** The events that a user wants to be notified of. */

import type { RunEvent, RunOutcome } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import { limitOf, limitText, reasonText } from '../model/limits.ts';
import type { Run } from '../model/run.ts';
import type { Observer } from '../ports.ts';
import { callText, oneLine, time, usd, withFiles } from './words.ts';

export interface Notice {
  readonly kind: 'question' | 'permission' | 'denial' | 'failure' | 'limit' | 'end';
  /** One line without control characters. It may contain words of agents. */
  readonly text: string;
  readonly event: RunEvent;
  readonly run: Run;
}

export function noticeObserver(give: (notice: Notice) => void): Observer {
  return {
    event(event, before, run) {
      const [kind, text] = noticeOf(event, before, run) ?? [];
      if (kind !== undefined && text !== undefined) give({ kind, text, event, run });
    },
    live: () => {},
  };
}

export function noticeOf(
  event: RunEvent,
  before: Run | undefined,
  { id, totalCostUsd, isPriced }: Run,
): readonly [Notice['kind'], string] | undefined {
  switch (event.type) {
    case 'agent-asked':
      return [
        'question',
        `${event.agent} of ${id} asks: ${oneLine(event.question)}${withFiles(event.files)}`,
      ];
    case 'permission-asked':
      return event.isQuestion
        ? ['question', `${event.agent} of ${id} asks: ${oneLine(event.input)}`]
        : ['permission', `${event.agent} of ${id} asks permission for ${callText(event)}`];
    case 'step-ended': {
      if (event.denied.length === 0) return undefined;
      const calls = event.denied.map((call) => oneLine(call, 60)).join(', ');
      return ['denial', `${event.agent} of ${id} was denied: ${oneLine(calls)}`];
    }
    case 'agent-failed':
      return ['failure', `${event.agent} of ${id} failed: ${oneLine(event.failure.message)}`];
    case 'usage-limited':
      // The limit applies to all prompts of the executor, and each of them may reach it.
      if (before && limitOf(before.limits, event.executor) !== undefined) return undefined;
      if (event.next !== undefined)
        return [
          'limit',
          `${reasonText(event.why ?? 'usage-limit', event.executor)} in ${id}: ${event.next} takes new sessions until ${time(event.until, event.at)}`,
        ];
      return [
        'limit',
        `${id} waits for the ${limitText(event.executor)} until ${time(event.until, event.at)}`,
      ];
    case 'run-ended':
      return ['end', `${id} ${ENDS[event.outcome]} (${usd(totalCostUsd, isPriced)})`];
    default:
      return ignore<
        'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
      >(event);
  }
}

const ENDS: Readonly<Record<RunOutcome, string>> = {
  completed: 'has completed',
  failed: 'has failed',
  waiting: 'waits for you',
  paused: 'waits for a usage limit, and must be resumed after it',
  interrupted: 'was stopped',
  'stopped: budget': 'has stopped: its budget is spent',
  'stopped: iterations': 'has stopped: its step limit is reached',
  'stopped: shutdown': 'was stopped by the system',
};
