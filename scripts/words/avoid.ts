/** Words and turns that make a sentence hard to read, and what to write in their place. */
export interface Avoided {
  readonly pattern: RegExp;
  readonly better: string;
}

/** The pattern's spaces stand for any white space. It is looked for in one sentence at a time. */
export const AVOID: readonly Avoided[] = [
  avoid('(?:go|goes|went|going|gone) on(?! (?:the|a)\\b)', 'continue'),
  avoid('(?:tells|told|telling)(?! (?:whether|apart))', 'report, say, show'),
  avoid('tell(?! (?:whether|if|apart|which))', 'report, say, show'),
  avoid('(?:tell|tells|told) .{1,40}\\bapart', 'distinguish'),
  avoid('(?:is|are|was|were) there(?! (?:an?|any|no|some|more|anything|nothing)\\b)', 'exists'),
  avoid('(?:there is|there are) .{1,30}\\bthat (?:is|are) not', 'name the subject'),
  avoid('(?:come|comes|came|coming) to (?:its|their|an) end', 'finish'),
  avoid('(?:come|comes|came|has come|have come) in(?! (?:pairs|two))', 'arrive'),
  avoid('(?:come|comes|came) back', 'return'),
  avoid('(?:put|puts|putting) .{0,30}\\bright', 'fix'),
  avoid('mend(?:s|ed|ing)?', 'fix'),
  avoid('(?:another|a further|one more) try', 'retry'),
  avoid('tr(?:y|ies|ied) again once more', 'retry'),
  avoid('nobody knows', 'you cannot know'),
  avoid('nobody(?! knows)', 'name the subject: no other part, no process, no one'),
  avoid('(?:some|any)body', 'someone, anyone, or name who'),
  avoid('be it', 'drop it, or: may be'),
  avoid('so often', 'N times'),
  avoid('so many(?! \\w+ that)', 'this many, N'),
  avoid('whoever', 'anyone who, a process that, or name who'),
  avoid('too(?=[.:;)])', 'also, as well, or join the sentences'),
  avoid('signs? of life', 'heartbeat'),
  avoid('the like of', 'similar'),
  avoid('as far as', 'say how far'),
  avoid('(?<!not )at all', 'drop it'),
  avoid('at once', 'immediately, or: at the same time'),
  avoid('of (?:its|their|his|her|our|your|my) own accord', 'by itself'),
  avoid('of (?:its|their|his|her|our|your|my) own(?! accord)', 'its own …'),
  avoid('(?:write|writes|wrote|written|writing) (?:\\w+ )?down', 'record'),
  avoid('anew', 'again'),
  avoid('over and over|again and again', 'repeatedly'),
  avoid('one after (?:the other|another)', 'in order, in turn'),
  avoid('all that there is|what(?:ever)? there is', 'everything'),
  avoid('all that(?! there is)', 'everything, all the …'),
  avoid('what is left', 'the rest, the remaining …'),
  avoid('for good', 'permanently'),
  avoid('dear(?:er|est)?', 'expensive'),
  avoid('apart(?! from)', 'separately'),
  avoid('(?:lie|lies|lay|lying)', 'is in, is at'),
  avoid('(?:stand|stands|stood|standing)(?! (?:for|alone)\\b)', 'is, appears'),
  avoid('(?:is|are|was|were) said', 'is defined, is stated'),
  avoid('(?:speak|speaks|spoke|spoken|speaking) of', 'mention'),
  avoid('heed(?:s|ed)?', 'follow, respect'),
  avoid('deaf(?: to)?', 'ignores'),
  avoid('dice', 'randomness'),
  avoid('strangers?', 'untrusted, or: another user'),
  avoid('unasked', 'without confirmation'),
  avoid('in vain', 'without effect'),
  avoid('be reminded of', 'receive a reminder about'),
  avoid('(?:is|are|was|were) to be', 'must be'),
  avoid('(?:has|have|had) to be', 'must be'),
  avoid('(?:brings?|brought|bringing) .{0,40}\\bup to date', 'update, upgrade'),
  avoid('(?:gives?|gave|given|giving) out', 'export, print'),
  avoid('in(?:to)? (?:its|their) places?', 'say where'),
  avoid('by and by', 'gradually'),
  avoid('once and for all', 'once'),
  avoid(
    '(?:whereby|wherein|thereof|thereby|therein|thereupon|herein|hence|thus)',
    'so, in it, by it',
  ),
  avoid('(?:e\\.g\\.|i\\.e\\.)', 'for example, that is'),
  avoid('in order to', 'to'),
  avoid('prior to', 'before'),
  avoid('due to the fact that', 'because'),
  avoid('utili[sz]e[sd]?', 'use'),
  avoid('(?:simply|obviously|of course|easily|basically)', 'drop it'),
  { pattern: /^What\b[^?]*\.\W*$/, better: 'begin with the subject' },
];

function avoid(words: string, better: string): Avoided {
  const source = words.replaceAll(' ', '\\s+');
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${source})(?![\\p{L}\\p{N}_])`, 'iu'),
    better,
  };
}
