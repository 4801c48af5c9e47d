import { type OutputText, TRANSITION_TAGS } from '../model/tag.ts';

/**
 * Describes, for a message, what a text contains instead of a tag: a tag in capitals, in escaped form,
 * or without its end. Looks at the end of a long text only.
 */
export function nearTag(text: OutputText): string | undefined {
  const end = text.slice(Math.max(0, text.length - MOST_READ), text.length);
  const closed = new Map<string, boolean>();
  for (const [, bracket = '', name = ''] of end.matchAll(OPENING)) {
    const tag = TRANSITION_TAGS.find((one) => one === name.toLowerCase().replaceAll('_', '-'));
    if (!tag) continue;
    if (bracket !== '<') return `It contains ${bracket}${name}, but a tag begins with <: <${tag}>.`;
    if (name !== tag) return `It contains <${name}>, but tags are in lower case: <${tag}>.`;
    const isClosed = closed.get(tag) ?? new RegExp(`</${tag}\\s*>`).test(end);
    closed.set(tag, isClosed);
    if (!isClosed) return `It contains <${tag}>, but not its end: </${tag}>.`;
  }
  return undefined;
}

const MOST_READ = 256 * 1024;

const OPENING = /(<|&lt;|\\u003c)([A-Za-z_-]{2,20})(?=[\s>&\\])/g;
