import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { type Mention, mentionsOf } from './mentions.ts';

function read(file: string, text: string): readonly Mention[] {
  const platform = /\.(bat|ps1)$/.test(file) ? 'windows' : 'unix';
  const state = workflowOf({ START: '', [file]: text }, platform).states;
  const found = [...state.values()].find(({ name }) => name === file);
  if (!found || found.kind === 'broken') throw new Error(`${file} is not there`);
  return mentionsOf(found);
}

const shown = (mention: Mention) =>
  mention.kind === 'tag'
    ? `${mention.line}:${mention.column} ${mention.tag.name} ${JSON.stringify(mention.tag.attributes)} ${mention.tag.body}`
    : `${mention.line}:${mention.column} ${mention.kind}`;

test.each([
  ['in prose', 'A.md', 'Write <goto>B</goto> now.', ['1:7 goto {} B']],
  ['in code', 'A.md', '```\n<goto>B</goto>\n```', ['2:1 goto {} B']],
  [
    'below front matter, at its line in the file',
    'A.md',
    '---\nmodel: opus\n---\n\nx <goto>B</goto>',
    ['5:3 goto {} B'],
  ],
  [
    'behind its name',
    'A.md',
    'With <goto>, as <goto>B</goto>.',
    ['1:6 unclosed', '1:17 goto {} B'],
  ],
  [
    'quoted in a result',
    'A.md',
    '<result><goto>B</goto></result>',
    ['1:1 result {} <goto>B</goto>'],
  ],
  ['not in a print', 'A.md', '<print><goto>B</goto></print>', []],
  ['not readable', 'A.md', '<call return=R>B</call>', ['1:1 bad']],
  ['without a body', 'A.md', '<goto/>', ['1:1 bad']],
  ['echoed', 'A.sh', "echo '<goto>B</goto>'", ['1:7 goto {} B']],
  [
    'echoed with escaped quotes',
    'A.sh',
    'x=1\necho "<call return=\\"R\\">B</call><goto>C</goto>"',
    ['2:7 call {"return":"R"} B', '2:34 goto {} C'],
  ],
  ['in a heredoc', 'A.sh', 'cat <<EOF\n<goto>B</goto>\nEOF', ['2:1 goto {} B']],
  ['with a variable', 'A.sh', 'echo "<goto>$next</goto>"', ['1:7 goto {} $next']],
  ['not in a comment', 'A.sh', '  # echo "<goto>B</goto>"', []],
  ['not in a comment behind a command', 'A.sh', `x="it's" # <goto>B</goto>`, []],
  [
    'behind a # that begins no comment',
    'A.sh',
    `echo "$\{x#y} # <goto>B</goto>"`,
    ['1:16 goto {} B'],
  ],
  ['in a heredoc behind a #', 'A.sh', 'cat <<-EOF\n# <goto>B</goto>\n\tEOF', ['2:3 goto {} B']],
  [
    'in single quotes with a variable between double quotes',
    'A.sh',
    `echo '<fork next="'$N'" worktree="'"$name"'">B</fork>'`,
    ['1:7 fork {"next":"$N","worktree":"$name"} B'],
  ],
  [
    'in single quotes with an apostrophe',
    'A.sh',
    `echo 'it'\\''s <goto>B</goto>'`,
    ['1:15 goto {} B'],
  ],
  [
    'printed by a program in a heredoc, and not in its comments',
    'A.sh',
    `python3 - <<'EOF'\n# <goto>A</goto>\nprint(f"it's <goto>{b}</goto>")  # <goto>B</goto>\nEOF\necho '<goto>C</goto>'`,
    ['3:14 goto {} {b}', '5:7 goto {} C'],
  ],
  [
    'after shifts and sums',
    'A.sh',
    "((a << b))\nx=$((1 << n)); echo '<goto>B</goto>'",
    ['2:22 goto {} B'],
  ],
  [
    'in a script whose quote never ends',
    'A.sh',
    "# it's\necho '<goto>B</goto>\n",
    ['2:7 goto {} B'],
  ],
  [
    'not on standard error',
    'A.sh',
    `echo '<goto>A</goto>' >&2; echo '<goto>B</goto>'`,
    ['1:34 goto {} B'],
  ],
  ['with carets', 'A.bat', 'rem ^<goto^>C^</goto^>\necho ^<goto^>B^</goto^>', ['2:7 goto {} B']],
  ['with backticks', 'A.ps1', '"<call return=`"R`">B</call>"', ['1:2 call {"return":"R"} B']],
])('a tag %s', (_, file, text, expected) => {
  expect(read(file, text).map(shown)).toEqual(expected);
});

test('a text that consists of openings', () => {
  const slow = '<goto>'.repeat(20_000);
  expect(read('A.md', slow)).toHaveLength(20_000);
  expect(read('A.md', `${slow}B</goto>`).at(-1)).toMatchObject({ tag: { body: 'B' } });
});

test('a text that consists of openings with attributes is read in linear time', () => {
  const openings = '<goto x="1">'.repeat(300_000);
  expect(read('A.md', `${openings}B</goto>`)).toHaveLength(300_000);
});

test.each(['"$(', "$'", '((', '<<A ', '${a:-"', "'\"'", '`'])(
  '%s is read in linear time',
  (piece) => {
    expect(read('A.sh', `${piece.repeat(100_000)}\n<goto>B</goto>`)).toHaveLength(1);
  },
);
