/** A workflow means the same as files and as one YAML text, or it is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { upTo } from '../../test/long.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import { differenceOf, readingOfFiles, readingOfYaml, type TextFile } from './same-workflow.ts';
import { toFiles } from './to-files.ts';
import { toYaml } from './to-yaml.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

const files = (texts: Readonly<Record<string, string>>): TextFile[] =>
  Object.entries(texts).map(([name, text]) => ({ name, bytes: encodeUtf8(text) }));

const texts = (all: readonly TextFile[]) =>
  Object.fromEntries(
    all.map(({ name, bytes }) => {
      const decoded = decodeUtf8(bytes);
      return [name, decoded.ok ? decoded.text : '(not UTF-8)'];
    }),
  );

const yamlOf = (given: Readonly<Record<string, string>>) => {
  const made = toYaml('w.yaml', files(given), AGENTS);
  if (!made.ok) throw new Error(made.reason);
  return made.value;
};

const filesOf = (yaml: string) => {
  const made = toFiles('w.yaml', yaml, AGENTS);
  if (!made.ok) throw new Error(made.reason);
  return texts(made.value);
};

const FOLDER = {
  'START.md': `---
# Who works
model: opus   # the best
allowed_transitions:
  - { tag: goto, target: "007" }
  - { tag: result, payload: 007 }
timeout: 1.50
---
Read {{input}}.

  - indented\t
Größe: 1
`,
  '007.sh': '#!/bin/bash\necho "<result>x</result>"\n',
  '007.ps1': 'Write-Output x',
  'END.md': 'End it.',
  'workflow.yaml': `# A test
name: Größe
environment: { COUNT: 007, ON: yes }
states:
  007: { max_visits: 3 }
`,
};

test('files become a YAML text that keeps comments and numbers', () => {
  expect(yamlOf(FOLDER)).toBe(`# A test
name: Größe
environment: { COUNT: 007, ON: yes }
states:
  "007":
    max_visits: 3
    ps1: |-
      Write-Output x
    sh: |
      #!/bin/bash
      echo "<result>x</result>"
  END:
    prompt: |-
      End it.
  START:
    # Who works
    model: opus # the best
    allowed_transitions:
      - { tag: goto, target: "007" }
      - { tag: result, payload: 007 }
    timeout: 1.50
    prompt: |
      Read {{input}}.

        - indented\t
      Größe: 1
`);
});

test('and files again', () => {
  const again = filesOf(yamlOf(FOLDER));
  expect(again).toEqual({
    ...FOLDER,
    'START.md': FOLDER['START.md'].replace('opus   #', 'opus #'),
    'workflow.yaml': FOLDER['workflow.yaml']
      .replace('  007: {', '  "007":\n    {')
      .replace(/\{ max_visits: 3 \}/, 'max_visits: 3')
      .replace('    \n', ''),
  });
});

describe('a prompt keeps its text', () => {
  test.each([
    '---\nmodel: opus\n---\nx',
    '---\nopen',
    '\n\n---\nmodel: opus\n---\nx',
    '<!-- x -->\n---\ntimeout: 3\n---\n',
    '\uFEFFmarked',
    '',
    ' ',
    '\n',
    '  two\n one\n\n\n',
    'a\r\nb\r\n',
    'tab\t \n \n',
    'a\u0085b\u2028c\u0007',
    '# not a comment\n- not: a list',
  ])('%j', (prompt) => {
    const yaml = `states:\n  START:\n    prompt: ${JSON.stringify(prompt)}\n`;
    const made = toFiles('w.yaml', yaml, AGENTS);
    expect(made.ok).toBe(true);
    if (!made.ok) return;
    expect(readingOfFiles(made.value, AGENTS).states).toMatchObject([{ template: prompt }]);
    const again = toYaml('w.yaml', made.value, AGENTS);
    expect(again.ok && readingOfYaml('w.yaml', again.value, AGENTS).states).toMatchObject([
      { template: prompt },
    ]);
  });
});

test('aliases become what they mean', () => {
  const yaml = `
environment: &e { A: 1 }
states:
  START: &s
    prompt: &p go
    model: &m opus
  B: { prompt: *p, model: *m }
`;
  expect(filesOf(yaml)).toEqual({
    'START.md': '---\nmodel: opus\n---\ngo',
    'B.md': '---\nmodel: opus\n---\ngo',
    'workflow.yaml': 'environment: { A: 1 }\n',
  });
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['a prompt and a script of one name', { 'A.md': 'x', 'A.sh': 'y' }, 'both a prompt and a script'],
  ['an extension in a name', { 'A.md.sh': 'x' }, '"A.md" has an extension'],
  ['broken front matter', { 'A.md': '---\nmodel: 3\n---\n' }, 'A.md:2:8: '],
  ['a byte order mark in a script', { 'A.sh': '\uFEFFecho' }, 'A.sh begins with a byte order mark'],
  [
    'limits for one platform',
    { 'A.sh': 'x', 'A.ps1': 'y', 'workflow.yaml': 'states: {A.sh: {timeout: 3}}' },
    'A.ps1 would not mean the same',
  ],
  ['a backslash in a name', { 'A\\B.md': 'x' }, 'is a path'],
])('%s cannot be YAML', (_, given, reason) => {
  const made = toYaml('w.yaml', files(given), AGENTS);
  expect(!made.ok && made.reason).toContain(reason);
});

test('bytes that are not UTF-8 cannot be YAML', () => {
  const made = toYaml('w.yaml', [{ name: 'A.sh', bytes: new Uint8Array([0xff]) }], AGENTS);
  expect(!made.ok && made.reason).toContain('A.sh is not UTF-8');
});

test.each([
  ['a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a]\n', 6],
  ['x: &x [*x]\n', 0],
])('aliases that expand without end are refused: %j', (start, levels) => {
  const bomb = 'cdefgh'
    .slice(0, levels)
    .split('')
    .map((name, at) => {
      const before = at === 0 ? 'b' : 'cdefgh'[at - 1];
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]\n`;
    });
  const yaml = `${start}${bomb.join('')}states: { START: { prompt: x } }\n`;
  const made = toFiles('w.yaml', yaml, AGENTS);
  expect(!made.ok && made.reason).toMatch(/aliases|contains itself/);
});

const piece = fc.constantFrom(
  ...['a', ' ', '\n', '\t', '\r\n', '---\n', '# ', ': ', '- ', '|', '>', '"', "'", '&', '*', '%'],
  ...['{{input}}', '<goto>A</goto>', 'ü', '🎉', '\u2028', '\uFEFF', '\0', '\x1b', '{', '[', '\\'],
);
const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
const stem = fc.constantFrom('START', 'A', 'b c', 'Prüfung', '7', 'true', '~', '- x', 'a: b', '*a');
const front = fc.constantFrom(
  ...['', '---\n---\n', '---\nmodel: opus # x\n---\n', '---\n# only\n---\n'],
  '---\ntimeout: 1e2\nallowed_transitions: [{tag: result, payload: on}]\n---\n',
);
const manifest = fc.constantFrom(
  ...[
    '',
    'name: "x"\n',
    'environment: { A: 0x1F, B: ~b }\ninput: {required: true, default: 0o7}\n',
  ],
  '# x\nstates:\n  A: { timeout: .5 }\n',
);
const state = fc.oneof(
  fc.record({
    stem,
    ending: fc.constant('.md'),
    text: fc.tuple(front, text).map((all) => all.join('')),
  }),
  fc.record({ stem, ending: fc.constantFrom('.sh', '.ps1', '.bat'), text }),
);

test('any workflow is the same after a way there and back, or is refused', () => {
  fc.assert(
    fc.property(fc.array(state, { maxLength: 5 }), manifest, (states, head) => {
      const given = Object.fromEntries(states.map((one) => [one.stem + one.ending, one.text]));
      const before = files({ ...given, ...(head && { 'workflow.yaml': head }) });
      const yaml = toYaml('w.yaml', before, AGENTS);
      if (!yaml.ok) return;
      const after = toFiles('w.yaml', yaml.value, AGENTS);
      expect(after).toMatchObject({ ok: true });
      if (!after.ok) return;
      const [was, is] = [before, after.value].map((one) => readingOfFiles(one, AGENTS));
      expect(was && is && differenceOf(was, is)).toBeUndefined();
      for (const { name, bytes } of before) {
        if (!/\.(sh|ps1|bat)$/.test(name)) continue;
        expect(after.value.find((file) => file.name === name)?.bytes).toEqual(bytes);
      }
    }),
    upTo(500),
  );
});

test('every workflow without errors can be converted, unless its names or marks prevent it', () => {
  fc.assert(
    fc.property(fc.uniqueArray(state, { maxLength: 5, selector: (one) => one.stem }), (states) => {
      const given = Object.fromEntries(states.map((one) => [one.stem + one.ending, one.text]));
      const reading = readingOfFiles(files(given), AGENTS);
      if (states.length === 0 || reading.diagnostics.length > 0) return;
      const made = toYaml('w.yaml', files(given), AGENTS);
      if (made.ok) return;
      expect(made.reason).toMatch(/byte order mark|has no key|not mean the same/);
      expect(states.some((one) => one.text.includes('\uFEFF'))).toBe(true);
    }),
    upTo(500),
  );
});

test('encoding is the inverse of decoding', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(encodeUtf8(text)).toEqual(new TextEncoder().encode(text));
    }),
  );
});
