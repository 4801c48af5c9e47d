/** What a transition tag does, in words. */
import type { TagName } from '../../src/model/tag.ts';

export interface TagWords {
  readonly does: string;
  /** A state, a workflow, a question or a result. */
  readonly what: string;
}

export function tagWords(name: string, attributes: string, body: string): TagWords {
  const text = body.trim();
  const known = Object.hasOwn(WORDS, name) ? WORDS[name as TagName] : name;
  const then = /\b(?:next|return)\s*=\s*["']([^"'<>]{1,80})["']/.exec(attributes)?.[1];
  return { does: known, what: then === undefined ? text : `${text}, then ${then}` };
}

const WORDS: Readonly<Record<TagName, string>> = {
  goto: '→ goes to',
  reset: '↻ starts afresh at',
  compact: '↻ hands over to a new session at',
  call: '↳ calls',
  function: '↳ calls, with a new session,',
  fork: '⑂ forks',
  join: '⑃ waits for its children, then',
  ask: '? asks',
  result: '✓ result',
  'call-workflow': '↳ calls the workflow',
  'function-workflow': '↳ calls, with a new session, the workflow',
  'fork-workflow': '⑂ forks the workflow',
  'reset-workflow': '↻ starts afresh at the workflow',
};

export const TAG_NAMES = Object.keys(WORDS);
