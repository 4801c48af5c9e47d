import { describe, expect, test } from 'vitest';
import { codeRegions } from './code-regions.ts';

describe('fenced blocks', () => {
  test.each<[name: string, text: string, regions: readonly string[]]>([
    ['backticks', 'a\n```\nb\n```\nc', ['```\nb\n```']],
    ['tildes', '~~~\nb\n~~~', ['~~~\nb\n~~~']],
    ['an info string', '```xml a=b\nb\n```\nc', ['```xml a=b\nb\n```']],
    ['Windows line ends', '```\r\nb\r\n```\r\nc', ['```\r\nb\r\n```\r']],
    ['up to three spaces before', 'a\n   ```\nb\n  ```  \nc', ['```\nb\n  ```  ']],
    ['a longer closing fence', '```\nb\n`````\nc', ['```\nb\n`````']],
    ['a shorter fence inside', '````\n```\nb\n```\n````\nc', ['````\n```\nb\n```\n````']],
    ['the other fence inside', '```\n~~~\n```\nc', ['```\n~~~\n```']],
    ['a closing fence with text does not close', '```\n``` b\n```\nc', ['```\n``` b\n```']],
    ['a closing fence four deep does not close', '```\n    ```\n```\nc', ['```\n    ```\n```']],
    ['no closing fence: to the end', 'a\n```\nb\n\nc', ['```\nb\n\nc']],
    ['a fence at the very end', 'a\n```', ['```']],
    ['two blocks', '```\na\n```\n~~~\nb\n~~~', ['```\na\n```', '~~~\nb\n~~~']],
    ['tildes may have backticks in their info', '~~~ `x`\nb\n~~~', ['~~~ `x`\nb\n~~~']],
    ['backticks may not: a span', '``` `x` ```\nb', ['``` `x` ```']],
    ['deep in a list, with a blank line', '1. x\n\n    ~~~\nb\n\nc\n\t~~~', ['~~~\nb\n\nc\n\t~~~']],
    ['text before it on the line: no fence', '- ~~~\nb\n~~~', ['~~~']],
    ['a tab before', '\t~~~\nb\n~~~', ['~~~\nb\n~~~']],
    ['text before: no fence', 'a ~~~\nb', []],
    ['two tildes: no fence', '~~\nb\n~~', []],
  ])('%s', (_, text, regions) => {
    expect(regionsOf(text)).toEqual(regions);
  });
});

describe('code spans', () => {
  test.each<[name: string, text: string, regions: readonly string[]]>([
    ['one backtick', 'a `b` c', ['`b`']],
    ['equal runs', 'a ``b ` c`` d', ['``b ` c``']],
    ['several', '`a` b `c`', ['`a`', '`c`']],
    ['across a line end', 'a `b\nc` d', ['`b\nc`']],
    ['not across a blank line', 'a `b\n \t\r\nc` d', []],
    ['not across a fence', 'a ` b\n```\nc ` d\n```\ne ` f', ['```\nc ` d\n```']],
    ['not across a fence of tildes', 'a ` b\n~~~\nc ` d\n~~~', ['~~~\nc ` d\n~~~']],
    ['across two tildes, which are no fence', 'a ` b\n~~\nc ` d', ['` b\n~~\nc `']],
    ['an unmatched run is text', 'a ``` b `c` d', ['`c`']],
    ['again in the next paragraph', 'a `\n\n`b` c', ['`b`']],
    ['an escaped backtick opens nothing', 'a \\` b `c` d', ['`c`']],
    ['the rest of an escaped run does', 'a \\``b` c', ['`b`']],
    ['an escaped backslash escapes nothing', 'a \\\\`b` c', ['`b`']],
    ['nothing is escaped inside', '`a\\` b', ['`a\\`']],
    ['tildes make no span', 'a ~~~b~~~ c', []],
  ])('%s', (_, text, regions) => {
    expect(regionsOf(text)).toEqual(regions);
  });

  test('skipped text does not count', () => {
    const text = '` a ` b `';
    expect(codeRegions(text)(1, text.length)).toEqual({ from: 4, to: 9 });
  });

  test('a region that opens after the limit is not found', () => {
    expect(codeRegions('ab `c`')(0, 3)).toBeUndefined();
    expect(codeRegions('ab `c`')(0, 4)).toEqual({ from: 3, to: 6 });
  });
});

function regionsOf(text: string): readonly string[] {
  const next = codeRegions(text);
  const regions: string[] = [];
  for (let region = next(0, text.length); region; region = next(region.to, text.length)) {
    regions.push(text.slice(region.from, region.to));
  }
  return regions;
}
