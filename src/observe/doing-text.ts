import type { Doing } from '../model/now.ts';
import { oneLine } from './words.ts';

/** The newest activity of an agent on one line. Another process wrote it, so it is cleaned again. */
export function doingText({ tool, words, note }: Doing, longest = 60): string {
  const parts = [
    tool && { at: tool.at, text: `${tool.name} ${tool.summary}` },
    words && { at: words.at, text: `"${words.text}"` },
    note,
  ];
  const newest = parts.reduce((a, b) => (b && b.at >= (a?.at ?? 0) ? b : a), undefined);
  return newest ? oneLine(newest.text, longest) : '';
}
