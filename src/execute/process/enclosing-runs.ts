import { readFileSync } from 'node:fs';
import { limitMark, markOf, tokensOf } from './mark.ts';

/** The keys of the runs whose steps started this process, directly or through others. */
export function enclosingRuns(): readonly string[] {
  const marks = [...tokensOf(process.env).map(markOf), ownLimit()];
  return marks.flatMap((mark) => mark?.key ?? []);
}

/** A process that clears its environment still has the limit. */
function ownLimit() {
  if (process.platform !== 'linux') return undefined;
  return limitMark(readFileSync('/proc/self/limits', 'latin1'));
}
