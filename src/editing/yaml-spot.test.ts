import { expect, test } from 'vitest';
import { yamlSpot } from './yaml-spot.ts';

/** The cursor is at `|`. */
function spotIn(marked: string) {
  const at = marked.indexOf('|CURSOR');
  const text = marked.replace('|CURSOR', '');
  const spot = yamlSpot(text, at);
  return spot && `${spot.kind} ${spot.path.join('.')} ${JSON.stringify(text.slice(spot.from, at))}`;
}

test.each([
  ['an empty text', '|CURSOR', 'key  ""'],
  ['a key at the top', 'mod|CURSOR', 'key  "mod"'],
  ['a key between others', 'a: 1\nmo|CURSOR\nb: 2', 'key  "mo"'],
  ['a value', 'model: op|CURSOR', 'value model "op"'],
  ['an empty value', 'model: |CURSOR', 'value model ""'],
  ['a key in a map', 'rights:\n  net|CURSOR', 'key rights "net"'],
  ['a value in a map', 'rights:\n  network: n|CURSOR', 'value rights.network "n"'],
  ['a key below a map', 'rights:\n  network: none\nmo|CURSOR', 'key  "mo"'],
  ['a list item', 'a:\n  - ta|CURSOR', 'key a.0 "ta"'],
  ['a list without indentation', 'a:\n- tag: goto\n- ta|CURSOR', 'key a.1 "ta"'],
  ['after a list without indentation', 'a:\n- tag: goto\nb: x|CURSOR', 'value b "x"'],
  ['a key in an item', 'a:\n  - tag: goto\n    tar|CURSOR', 'key a.0 "tar"'],
  ['a value in the second item', 'a:\n  - tag: goto\n  - tag: go|CURSOR', 'value a.1.tag "go"'],
  ['brackets', 'a:\n  - { tag: goto, tar|CURSOR }', 'key a.0 "tar"'],
  ['a value in brackets', 'a:\n  - { tag: goto, target: X|CURSOR }', 'value a.0.target "X"'],
  ['brackets in brackets', 'a: [{ b: { c: d|CURSOR', 'value a.0.b.c "d"'],
  ['the second of a list in brackets', 'a: [x, y|CURSOR', 'value a.1 "y"'],
  ['brackets over lines', 'a: {\n  b: 1,\n  c: x|CURSOR\n}', 'value a.c "x"'],
  ['after brackets', 'a: { b: 1 }\nc|CURSOR', 'key  "c"'],
  ['after brackets over lines', 'a: {\n  b: 1\n}\nc: |CURSOR', 'value c ""'],
  ['brackets in quotes', 'a: { b: "}{[", c|CURSOR', 'key a "c"'],
  ['a text of several lines', 'a:\n  prompt: |\n    x: <go|CURSOR', 'text a.prompt ""'],
  ['after such a text', 'a:\n  prompt: |\n    x\n  mod|CURSOR', 'key a "mod"'],
  ['keys in such a text', 'prompt: |\n  rights:\n    write: []\nb: y|CURSOR', 'value b "y"'],
  ['a comment with a colon', '# a: b\nmo|CURSOR', 'key  "mo"'],
  ['Windows lines', 'a:\r\n  b: 1\r\n  c|CURSOR', 'key a "c"'],
  ['a quoted key', '"a b":\n  c|CURSOR', 'key a b "c"'],
  ['umlauts and emoji', 'Ä🙂:\n  ö: 🙂 x|CURSOR', 'value Ä🙂.ö "🙂 x"'],
])('%s', (_, marked, expected) => {
  expect(spotIn(marked)).toBe(expected);
});

test('other keys of the same map', () => {
  const text = 'a:\n  - tag: goto\n    \n    input: x\n  - tag: call\nb: 1';
  const spot = yamlSpot(text, text.indexOf('\n    \n') + 5);
  expect([...(spot?.siblings ?? [])]).toEqual([
    ['tag', 'goto'],
    ['input', 'x'],
  ]);
});

// With quadratic time, these tests would not end.
test.each([
  ['many lines', 'a: 1\n'.repeat(200_000)],
  ['brackets over many lines', `a: [\n${'x,\n'.repeat(200_000)}`],
  ['closed brackets', 'a: {b: 1}\n'.repeat(100_000)],
  ['open brackets', '[{'.repeat(200_000)],
  ['dashes', '- '.repeat(200_000)],
  ['quotes', `a: {${`"'`.repeat(200_000)}`],
  ['a deep text', Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}k:`).join('\n')],
])('%s', (_, text) => {
  expect(() => yamlSpot(text, text.length)).not.toThrow();
});
