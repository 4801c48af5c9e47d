import type { RunEvent } from '../model/event.ts';
import type { Doing, Now } from '../model/now.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Live, StepKey } from '../ports.ts';
import { oneLine } from './words.ts';

/**
 * The activity of each agent with a running step. The work for one live event does not depend on their
 * number.
 */
export class DoingNow {
  /** The most recently active agent is the last one. */
  readonly #newest = new Map<string, RawDoing>();

  /** Returns whether anything has changed. */
  event(event: RunEvent): boolean {
    switch (event.type) {
      case 'step-started':
      case 'step-ended':
      case 'step-failed':
      case 'step-interrupted':
        return this.#newest.delete(event.agent);
      default:
        return false;
    }
  }

  /** Returns whether anything has changed. */
  live({ agent, step }: StepKey, live: Live, at: number): boolean {
    const last = this.#newest.get(agent);
    const known = last?.step === step ? last : undefined;
    const part = partOf(live, timeAfter(known, at));
    if (!part) return false;
    this.#newest.delete(agent);
    this.#newest.set(agent, { step, ...known, ...part });
    return true;
  }

  snapshot(at: number): Now {
    const agents: Doing[] = [];
    let size = 0;
    for (const [agent, raw] of [...this.#newest].reverse()) {
      const doing = shortened(agent, raw);
      size += JSON.stringify(doing).length;
      if (size > MOST_CHARACTERS) break;
      agents.push(doing);
    }
    return { at, agents, omitted: this.#newest.size - agents.length };
  }
}

/** Enough for several hundred agents. */
const MOST_CHARACTERS = 128 * 1024;
const LONGEST_WORDS = 160;
const LONGEST_NAME = 80;

/** Texts are shortened only when they are published, because most are replaced before that. */
type RawDoing = Omit<Doing, 'agent'>;

/**
 * Words and the tool call that follows them often arrive together. The times say which one is newer, so
 * no two are the same.
 */
function timeAfter(known: RawDoing | undefined, at: number): number {
  const times = [known?.tool, known?.words, known?.note].map((part) => part?.at ?? 0);
  return Math.max(at, Math.max(...times) + 1);
}

function partOf(live: Live, at: number): Partial<RawDoing> | undefined {
  switch (live.kind) {
    case 'tool':
      return { tool: { at, name: live.name, summary: live.summary } };
    case 'text':
    case 'print':
      return live.text.trim() === '' ? undefined : { words: { at, text: live.text } };
    case 'note':
    case 'warning':
      return { note: { at, text: live.text } };
    case 'spent':
      return { spentUsd: live.usd };
    case 'denied':
    case 'prompt':
      return undefined;
    default:
      return unreachable(live);
  }
}

function shortened(agent: string, { step, tool, words, note, spentUsd }: RawDoing): Doing {
  const short = ({ at, text }: { at: number; text: string }) => ({
    at,
    text: oneLine(text, LONGEST_WORDS),
  });
  return {
    agent,
    step,
    ...(tool && {
      tool: {
        at: tool.at,
        name: oneLine(tool.name, LONGEST_NAME),
        summary: oneLine(tool.summary, LONGEST_WORDS),
      },
    }),
    ...(words && { words: short(words) }),
    ...(note && { note: short(note) }),
    ...(spentUsd !== undefined && { spentUsd }),
  };
}
