/**
 * The commands themselves, on hostile input. They end with an exit code and a message, and execute
 * nothing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { inSuite } from '../long.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Ended, type Project } from '../raymond.ts';
import { HOSTILE_NAMES } from './hostile-workflows.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

const EVIL = 'touch "$HERE/evil"; echo "<goto>START</goto>"';

const BOMB = `a: &a [x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
answers: [*d, *d, *d, *d, *d, *d, *d, *d]
`;

const WORKFLOWS: Readonly<Record<string, Files>> = {
  'names that mean something else': Object.fromEntries([
    ['START.md', HOSTILE_NAMES.map((name) => `<goto>${name}</goto>`).join('\n')],
    ...HOSTILE_NAMES.map((name) => [`${name}.sh`, EVIL]),
    ...HOSTILE_NAMES.map((name) => [`${name}.md`, `<goto>${name}</goto> {{${name}}}`]),
  ]),
  'any bytes': {
    'START.md': Uint8Array.from({ length: 5_000 }, (_, i) => (i * 7919) % 251),
    'B.sh': Uint8Array.from({ length: 5_000 }, (_, i) => (i * 104_729) % 256),
  },
  'deep nesting': {
    'START.md': `---\nmodel: ${'['.repeat(50_000)}\n---\n${'<goto>'.repeat(50_000)}`,
  },
  'an alias bomb': {
    'START.md': `---\n${BOMB}---\nx`,
    'rehearsal.yaml': BOMB,
    'a.test.yaml': BOMB,
  },
  'a dense graph': Object.fromEntries(
    ['START', 'A', 'B', 'C', 'D', 'E', 'F'].map((name) => [
      `${name}.md`,
      ['START', 'A', 'B', 'C', 'D', 'E', 'F']
        .map((to) => `<goto>${to}</goto><call return="${to}">A</call><fork next="B">${to}</fork>`)
        .join('\n'),
    ]),
  ),
  'a thousand states': Object.fromEntries([
    ['START.sh', 'echo "<goto>S0</goto>"'],
    ...Array.from({ length: 1_000 }, (_, i) => [`S${i}.sh`, `echo "<goto>S${i + 1}</goto>"`]),
  ]),
  'scripts that do harm': { 'START.sh': EVIL, 'a.test.yaml': 'expect: {files: {/etc/passwd: x}}' },
};

/** Their work is also that of hostile-workflows.test.ts, so the suite starts no process for them. */
const IN_TEST: readonly (readonly string[])[] = [
  ['lint', 'flow'],
  ['check', 'flow'],
  ['diagram', 'flow', '--html'],
];
const COMMANDS = inSuite<readonly string[]>(
  [
    ['test', 'flow', '--explore'],
    ['flow', '--rehearse', '--quiet', '--no-debug', '--max-iterations', '30'],
  ],
  [...IN_TEST, ['diagram', 'flow'], ['diagram', 'flow', '--svg']],
);

function put(project: Project, folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    if (name.includes('/') || name.includes('\0')) continue;
    const file = project.path(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

async function expectToLook(project: Project, args: readonly string[]): Promise<void> {
  const ended = await project.run(args, { env: { HERE: project.folder } });
  expect(ended.signal, args.join(' ')).toBeNull();
  checkLook(project, args, ended);
}

function checkLook(
  project: Project,
  args: readonly string[],
  { code, stderr }: Pick<Ended, 'code' | 'stderr'>,
): void {
  const context = `raymond ${args.join(' ')}: ${stderr.slice(0, 2_000)}`;
  expect([0, 1, 2, 3, 64], context).toContain(code);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(existsSync(project.path('evil')), context).toBe(false);
}

describe.each(Object.entries(WORKFLOWS))('%s', (_, files) => {
  test('can be inspected', async () => {
    const project = newProject({});
    put(project, 'flow', files);
    const env = { HERE: project.folder };
    for (const args of IN_TEST) checkLook(project, args, await command(project, args, { env }));
    for (const args of COMMANDS) await expectToLook(project, args);
  });
});

test('a state folder full of files that are not runs', async () => {
  const project = newProject({});
  const state = {
    'empty.jsonl': '',
    'text.jsonl': 'This is no journal.\n',
    'null.jsonl': 'null\n[]\n{}\n',
    'bytes.jsonl': Uint8Array.from({ length: 3_000 }, (_, i) => (i * 31) % 256),
    'deep.jsonl': `${'['.repeat(100_000)}\n`,
    'hole.jsonl': '',
    'lonely.json': '{}',
    'lonely.snapshot': '99999999999999999999\n',
    '$(touch evil).jsonl': '',
    '`touch evil`.json': '',
    '..jsonl': '',
    [`${'x'.repeat(240)}.jsonl`]: '',
    'prototype.jsonl': '{"type":"run-started","__proto__":{"version":1}}\n',
  };
  put(project, '.raymond/state', state);
  // A file with a hole costs nothing to create, and would take long to read.
  truncateSync(project.path('.raymond/state/hole.jsonl'), 2 ** 36);
  await expectToLook(project, ['list']);
  await expectToLook(project, ['list', '--json']);
  for (const file of Object.keys(state).filter((name) => /^\w+\./.test(name))) {
    const run = file.replace(/\.\w+$/, '');
    for (const args of [
      ['show', run],
      ['logs', run],
    ]) {
      checkLook(project, args, await command(project, args));
    }
  }
  await expectToLook(project, ['diagram', '--run', 'deep', '--svg']);
  await expectToLook(project, ['__complete', '--', 'show', '']);
});

test.runIf(process.platform !== 'win32')(
  'a thousand runs are listed with few files open at the same time',
  async () => {
    const project = newProject({});
    const journals = Array.from({ length: 1_000 }, (_, i) => [`run-${i}.jsonl`, 'no journal\n']);
    put(project, '.raymond/state', Object.fromEntries(journals));
    const listed = execFileSync(
      '/bin/bash',
      ['-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, BIN, 'list'],
      { cwd: project.folder, encoding: 'utf8' },
    );
    expect(listed.match(/damaged/g)).toHaveLength(1_000);
    expect(listed).not.toContain('too many files open');
  },
);
