import { readFileSync } from 'node:fs';
import { limitMark, markOf, tokensOf } from './mark.ts';

/** The keys of the runs from whose steps this process descends. */
export function runsAround(): readonly string[] {
  const marks = [...tokensOf(process.env).map(markOf), ownLimit()];
  return marks.flatMap((mark) => mark?.key ?? []);
}

/** Whoever empties its environment still has the limit. */
function ownLimit() {
  if (process.platform !== 'linux') return undefined;
  return limitMark(readFileSync('/proc/self/limits', 'latin1'));
}
