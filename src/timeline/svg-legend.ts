import { textWidth } from '../draw/text-width.ts';
import type { Timeline } from './timeline.ts';

/** Explains the bars and lines that a timeline uses. Leaves out the others. */
export function svgLegend({ rows }: Timeline): {
  readonly height: number;
  readonly content: string;
} {
  const spans = rows.flatMap((row) => row.spans);
  const isUsed: Readonly<Record<string, boolean>> = {
    prompt: spans.some(({ kind, isPrompt }) => kind === 'work' && isPrompt === true),
    script: spans.some(({ kind, isPrompt }) => kind === 'work' && isPrompt !== true),
    failed: spans.some(({ end }) => end === 'failed'),
    abandoned: spans.some(({ isAbandoned }) => isAbandoned),
    join: spans.some(({ kind }) => kind === 'join'),
    ask: spans.some(({ kind }) => kind === 'ask'),
    retry: spans.some(({ kind }) => kind === 'retry'),
    limit: spans.some(({ kind }) => kind === 'limit'),
  };
  let x = 24;
  const items = ITEMS.flatMap(([name, words]) => {
    if (!isUsed[name]) return [];
    const sign = BARS.has(name)
      ? `<rect class="span ${name === 'abandoned' ? 'prompt abandoned' : name}" x="${x}" y="3" width="28" height="14" rx="2"/>`
      : `<path class="wait ${name}" d="M${x} 10H${x + 28}"/>`;
    const item = `${sign}<text x="${x + 36}" y="14">${words}</text>`;
    x += Math.ceil(36 + textWidth(words, 11) + 20);
    return [item];
  });
  return { height: items.length === 0 ? 0 : 34, content: items.join('') };
}

const BARS = new Set(['prompt', 'script', 'failed', 'abandoned']);

const ITEMS: readonly (readonly [string, string])[] = [
  ['prompt', 'prompt'],
  ['script', 'script'],
  ['failed', 'failed step'],
  ['abandoned', 'abandoned by a rewind'],
  ['join', 'waits for child agents'],
  ['ask', 'waits for an answer'],
  ['retry', 'waits for a retry'],
  ['limit', 'waits for the usage limit'],
];
