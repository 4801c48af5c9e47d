import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AVOID } from './words/avoid.ts';
import { MOST_WORDS } from './words/find.ts';
import { type Passage, sentencesOf, wordCount } from './words/passage.ts';
import { findings, hashComments, markdownPassages, sourcePassages } from './words/words.ts';

describe('sentences', () => {
  test.each([
    ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
    ['It took 0.2 s in loop.ts. Then it ended.', ['It took 0.2 s in loop.ts.', 'Then it ended.']],
    ['See `a. B` and `>`. A caller.', ['See `a. B` and `>`.', 'A caller.']],
    ['**Begin.** Run it.', ['**Begin.**', 'Run it.']],
    ['Use a list, e.g. Names. Done.', ['Use a list, e.g. Names.', 'Done.']],
    ['He said "Stop." Then he left.', ['He said "Stop."', 'Then he left.']],
    ['A line\nthat wraps. Next\none.', ['A line that wraps.', 'Next one.']],
    ['-- ... --', []],
  ])('%s', (text, expected) => {
    expect(sentencesOf({ line: 1, text }).map((sentence) => sentence.text)).toEqual(expected);
  });

  test('know their lines', () => {
    const sentences = sentencesOf({ line: 7, text: 'One\ntwo. Three.\nFour.' });
    expect(sentences.map(({ line }) => line)).toEqual([7, 8, 9]);
  });

  test.each([
    ['Run `raymond resume x` now.', 3],
    ['See [the guide](docs/guide/a.md) first.', 4],
    ['End with <goto if="a b">NEXT</goto>', 3],
    ['a - b -- c', 3],
    ['See https://example.com/a/b today', 3],
  ])('%s counts as %i words', (text, count) => {
    expect(sentencesOf({ line: 1, text }).map(wordCount)).toEqual([count]);
  });
});

describe('markdown', () => {
  test.each([
    ['a paragraph\nof two lines\n\nanother', ['1: a paragraph\nof two lines', '4: another']],
    ['# Title\ntext', ['1: Title', '2: text']],
    ['- one\n  goes further\n- two\n  1. three', ['1: one\ngoes further', '3: two', '4: three']],
    ['> quoted\n> text', ['1: quoted\ntext']],
    ['| a | b \\| c |\n| - | - |\n| d |   |', ['1: a', '1: b \\| c', '3: d']],
    ['```text\nno *prose*\n```\nprose', ['4: prose']],
    ['````md\n```sh\n```\n````\nprose', ['5: prose']],
    ['```\n```\nprose', ['3: prose']],
    ['- item\n  ```sh\n  code\n  ```\n  more', ['1: item', '5: more']],
    ['---\nkey: value\n---\nprose', ['4: prose']],
    ['<!-- play\nSTART: x\n-->\nprose', ['4: prose']],
    ['<!-- generated: tags -->\n| made |\n<!-- end -->\nprose', ['4: prose']],
  ])('%j', (text, expected) => {
    expect(shown(markdownPassages(text))).toEqual(expected);
  });
});

describe('source', () => {
  test.each([
    // Comments.
    ['// one\n// two\n\n// three', ['1: one\ntwo', '4: three']],
    ['f(); // beside code\n// below', ['1: beside code\nbelow']],
    ['/** one\n * two\n */\n// three', ['1: one\ntwo', '4: three']],
    ['/**\n * Promises:\n * - one\n * - two\n */', ['2: Promises:', '3: one', '4: two']],
    ['#!/usr/bin/env node\n// a tool', ['2: a tool']],
    ['// biome-ignore lint: because\nf();', []],
    // What only looks like a comment or a string.
    ["const a = 'see // no comment';", ['1: see // no comment']],
    ['const a = /\'it is \\/\\/ not [/"]/; // a comment', ['1: a comment']],
    ['const a = b / c; const d = "of the day"; e / f;', ['1: of the day']],
    ['const a = "it\'s /* not */ a comment";', ["1: it's /* not */ a comment"]],
    ["const a = 'don\\'t do \\\\';", ["1: don't do \\"]],
    // Templates.
    [
      `const a = \`no file at \${path} in \${\`the \${inner} folder here\`}\`;`,
      ['1: no file at X in X', '1: the X folder here'],
    ],
    [
      `const a = \`\${b ? "which is one" : \`}\`} more words here\`;`,
      ['1: X more words here', '1: which is one'],
    ],
    ['const a = `two\nlines of text`;', ['1: two\nlines of text']],
    [
      "const a = 'one sentence ' +\n  'in two ' + name(\n 'given to it');",
      ['1: one sentence in two X', '3: given to it'],
    ],
    // Strings that are no sentences.
    ["import a from 'some where'; type B = 'one two'; export * from 'not this one';", []],
    ["const names = 'HOME USERPROFILE SHELL and IFS ENV BASH';", []],
    ["const a = 'word'; const css = 'a { color: red; }'; const b = '<p>some text</p>';", []],
  ] satisfies [string, string[]][])('%s', (text, expected) => {
    expect(shown(sourcePassages(parseSync('a.ts', text), text, 'source'))).toEqual(expected);
  });

  test('of a test, only titles and comments are read', () => {
    const text = `
      // a comment
      describe.each(rows)('a title of many', () => {
        test(\`reads \${n} things\`, () => expect(f('not a title here')).toBe('nor this one'));
        test.each([['a row of text']])('%s is a title', () => other('no title at all'));
      });`;
    expect(shown(sourcePassages(parseSync('a.test.ts', text), text, 'test'))).toEqual([
      '2: a comment',
      '3: a title of many',
      '4: reads X things',
      '5: %s is a title',
    ]);
  });

  test('in shell and YAML, comments are read', () => {
    const text =
      '#!/bin/sh\n# one\n# two\necho "# no" # beside\n  # three\n#\n#   code\n# - four\n';
    expect(shown(hashComments(text))).toEqual(['2: one\ntwo', '5: three', '8: four']);
  });
});

describe('findings', () => {
  test.each([
    ['The run goes on.', ['"goes on": continue']],
    ['The cursor goes on the next line.', []],
    ['Is there a journal?', []],
    ['Workers wait, too.', ['"too": also, as well, or join the sentences']],
    ['It is too large, too slow and too old.', []],
    ['Whoever has it waits.', ['"Whoever": anyone who, a process that, or name who']],
    ['It looks whether the file is\nthere.', ['"is there": exists']],
    ['Put the cause right, then retry.', ['"Put the cause right": fix']],
    ['Run `go on` here.', []],
    ['A reader takes an append as a whole or not at all.', []],
    ['You cannot tell whether it works.', []],
    [
      'What follows from it is journaled.',
      ['"What follows from it is journaled.": begin with the subject'],
    ],
    ['What the agent remembers', []],
    ['What happens when it stops?', []],
    ['A standing-by process has anewly-made parts.', ['"standing": is, appears']],
  ])('%j', (text, expected) => {
    expect(findings([{ line: 1, text }]).map((finding) => finding.text)).toEqual(expected);
  });

  test('a sentence may have 25 words, and not one more', () => {
    const sentence = (words: number) => `${Array.from({ length: words }, () => 'word').join(' ')}.`;
    const lengths = [MOST_WORDS, MOST_WORDS + 1].map((words) => ({
      line: 1,
      text: sentence(words),
    }));
    expect(findings(lengths).map(({ kind }) => kind)).toEqual(['long']);
  });

  test('no better form is itself to be avoided', () => {
    const better = AVOID.map(({ better }) => ({ line: 1, text: better }));
    expect(findings(better)).toEqual([]);
  });
});

describe('the command', () => {
  const folder = join(import.meta.dirname, '../test/artefacts/words');
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bad.md'), 'All is well.\n\nThe run goes on.\n');
    writeFileSync(join(folder, 'good.md'), 'The run continues.\n');
    writeFileSync(join(folder, 'broken.ts'), 'const = ;\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    [['bad.md'], 0, 'test/artefacts/words/bad.md:3: "goes on": continue\n1 finding\n'],
    [['bad.md', '--strict'], 1, 'test/artefacts/words/bad.md:3: "goes on": continue\n1 finding\n'],
    [['good.md', '--strict'], 0, '0 findings\n'],
  ])('%j', (args, status, stdout) => {
    expect(words(args)).toMatchObject({ status, stdout });
  });

  test('counts by folder', () => {
    expect(
      words(['bad.md', 'good.md', '--count'])
        .stdout.split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      'long sentences  words to avoid',
      '0               1  test/artefacts',
      '0               1  together',
      '',
    ]);
  });

  test('does not pass over a file that it cannot read', () => {
    expect(words(['broken.ts']).status).not.toBe(0);
  });

  function words(args: readonly string[]) {
    const script = join(import.meta.dirname, 'words.js');
    return spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8' });
  }
});

function shown(passages: readonly Passage[]): readonly string[] {
  return passages.map(({ line, text }) => `${line}: ${text}`);
}
