/** All errors have one form: a fact with its place, and a remedy. `--json` gives the same. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `echo '<result>x</result>'`,
  'broken/START.md': '---\nmodel: nonsense\n---\nx',
  'bad.yaml': 'states:\n  START: [\n',
};

test.each<[readonly string[], string, { file: string; line?: number } | null]>([
  [['show', 'nothing'], 'no-run', null],
  [['list', '--bogus'], 'usage', null],
  [['nowhere'], 'no-workflow', null],
  [['flow', '--budget', 'much'], 'usage', null],
  [['broken'], 'broken-workflow', { file: 'broken/START.md', line: 2 }],
  [['bad.yaml'], 'bad-yaml', { file: 'bad.yaml', line: 3 }],
  [['.'], 'no-entry', { file: '' }],
  [['flow', '--log-file', 'no/folder'], 'log-file', { file: 'no/folder' }],
  [['resume', 'r', '--detach'], 'no-run', null],
  [['prune', '--older-than', 'long'], 'usage', null],
])('%j --json prints the error as one object', async (args, code, place) => {
  const project = newProject(FLOW);
  const plain = await command(project, args);
  const { stdout, ...ended } = await command(project, [...args, '--json']);
  expect(ended).toMatchObject({ code: plain.code, stderr: plain.stderr });
  const { error, ...others } = JSON.parse(stdout);
  expect(others).toEqual({});
  expect(Object.keys(error)).toEqual(['code', 'message', 'place', 'remedy']);
  expect(error.code).toBe(code);
  if (place === null) expect(error.place).toBeNull();
  else {
    expect(error.place).toMatchObject({ ...place, file: resolve(project.folder, place.file) });
  }
  // The same words. Standard error breaks no line, because it is not a terminal.
  expect(plain.stderr).toContain(`raymond: ${error.message.replaceAll(/\s+/g, ' ')}`.slice(0, 60));
  expect(plain.stderr).toContain(error.remedy);
});

test('the place of a wrong key, or of damage in a journal, is its line', async () => {
  const project = newProject({ ...FLOW, '.raymond/config.toml': '[raymond]\n\nbudgte = 3\n' });
  const config = await command(project, ['config', '--json']);
  expect(JSON.parse(config.stdout).error).toMatchObject({
    code: 'config',
    place: { file: project.path('.raymond/config.toml'), line: 3 },
    remedy: 'Did you mean budget?',
  });
  project.write('.raymond/config.toml', '');
  await command(project, ['flow', '--workflow-id', 'r']);
  const journal = '.raymond/state/r.jsonl';
  project.write(
    journal,
    project.read(journal).replace('"flow"', '"fl0w"').replace('START', 'STORT'),
  );
  const shown = await command(project, ['show', 'r', '--json']);
  expect(shown.code).toBe(1);
  expect(JSON.parse(shown.stdout).error).toMatchObject({
    code: 'journal-corrupt',
    place: { file: project.path(journal), line: 1 },
  });
});

test('without --json, standard output has no error', async () => {
  const project = newProject(FLOW);
  expect((await command(project, ['nowhere'])).stdout).toBe('');
  expect((await command(project, ['nowhere', '--json', '--no-json'])).stdout).toBe('');
  expect((await command(project, ['--', '--json'])).stdout).toBe('');
});

test('resume --all leaves no log file open, of runs that end and of runs that are refused', async () => {
  const project = newProject({
    'flow/START.sh': 'echo "<goto>END.sh</goto>"',
    'flow/END.sh': 'echo "<result>x</result>"',
    'other/START.sh': 'echo "<goto>END.sh</goto>"',
    'other/END.sh': 'echo "<result>x</result>"',
  });
  for (const [id, flow] of [
    ['one', 'flow'],
    ['changed', 'other'],
    ['three', 'flow'],
  ] as const)
    await command(project, [flow, '--workflow-id', id, '--max-iterations', '1']);
  project.write('other/END.sh', 'echo "<result>y</result>"');
  const log = project.path('run.log');
  const limit = ['--max-iterations', '5'];
  const all = await command(project, ['resume', '--all', ...limit, '--log-file', log]);
  expect(all.stderr).toContain('have changed since changed read them');
  expect(project.read('run.log').match(/END/g)?.length).toBeGreaterThanOrEqual(2);
  const open = readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
  expect(open.filter((path) => path === log)).toEqual([]);
});

test('resume --all --json prints an error for each run that is refused', async () => {
  const project = newProject({ 'flow/START.sh': 'exit 1' });
  await command(project, ['flow', '--workflow-id', 'r']);
  project.write('flow/START.sh', 'exit 2');
  const { code, stdout } = await command(project, ['resume', '--all', '--json']);
  expect(code).toBe(1);
  expect(
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).error?.code),
  ).toEqual(['changed-workflow']);
});

describe('in the source', () => {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const errors = files.flatMap((file) => errorsIn(join(source, file)));

  test('there are errors', () => {
    expect(errors.length).toBeGreaterThan(80);
  });

  test('every fact is a sentence', () => {
    const wrong = errors.filter(
      ({ fact }) => fact !== undefined && !/^[A-Z0-9"…-].*[.…]$/s.test(fact),
    );
    expect(wrong.map(({ file, fact }) => `${file}: ${fact}`)).toEqual([]);
  });

  test('every remedy is a sentence, or ends with a command to copy', () => {
    const isRemedy = (text: string) =>
      /^[A-Z…].*[.?…]$/s.test(text) ||
      /^[A-Z…].*: (raymond|npm|chmod|kill) [^.]*("\.\.\.")?$/s.test(text);
    const wrong = errors.filter(({ remedy }) => remedy !== undefined && !isRemedy(remedy));
    expect(wrong.map(({ file, remedy }) => `${file}: ${remedy}`)).toEqual([]);
  });
});

interface WrittenError {
  readonly file: string;
  readonly fact: string | undefined;
  readonly remedy: string | undefined;
}

/** The texts of the errors that a file makes. Values are `…`; a text that is not written there is left out. */
function errorsIn(file: string): readonly WrittenError[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const found: WrittenError[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, callee, arguments: given } = node as Call;
    const name = type === 'NewExpression' || type === 'CallExpression' ? callee?.name : undefined;
    if (name === 'UserError' || name === 'RunLost') add(given?.slice(1, 3));
    if (name === 'wrongUsage') add(given?.slice(0, 2));
    Object.values(node).forEach(visit);
  };
  const add = ([fact, remedy]: readonly Written[] = []) => {
    for (const one of textsOf(fact)) found.push({ file, fact: one, remedy: undefined });
    for (const one of textsOf(remedy)) found.push({ file, fact: undefined, remedy: one });
  };
  visit(program);
  return found;
}

interface Call {
  readonly type?: string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Written[];
}

interface Written {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly consequent?: Written;
  readonly alternate?: Written;
  readonly right?: Written;
}

function textsOf(node: Written | undefined): readonly string[] {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [];
    case 'TemplateLiteral':
      return [(node.quasis ?? []).map(({ value }) => value.cooked).join('…')];
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)];
    case 'LogicalExpression':
      return textsOf(node.right);
    default:
      return [];
  }
}
