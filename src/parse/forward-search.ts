import type { OutputText } from '../model/tag.ts';

/** The first position of a needle at or after `from`; the length of the text if there is none. */
export type ForwardSearch = (from: number) => number;

/**
 * Positions of a needle, for callers that only move forward: each part of the text is searched
 * once.
 */
export function forwardSearch(
  text: Pick<OutputText, 'indexOf' | 'length'>,
  needle: string,
): ForwardSearch {
  let found = -1;
  return (from) => {
    if (found < from) {
      const at = text.indexOf(needle, from);
      found = at < 0 ? text.length : at;
    }
    return found;
  };
}
