/** One-time codes: they come with `on_event`, and answer a question wherever it was asked. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerFromDelivery } from '../../src/app/answer-by-code.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { FLOWS } from './asking.ts';

/** The command of `on_event` keeps what it gets outside of the project. */
function remember(project: Project, lifetime = ''): () => readonly Notice[] {
  const seen = join(project.userConfig, 'seen.jsonl');
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  const text = `[raymond]\non_event = "cat >>'${seen}'"\n${lifetime}`;
  writeFileSync(join(project.userConfig, 'config.toml'), text, { mode: 0o600 });
  return () =>
    readFileSync(seen, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
}

interface Notice {
  readonly notice: string;
  readonly workflow_id: string;
  readonly codes?: readonly { readonly answer: string; readonly code: string }[];
}

const codeIn = (notices: readonly Notice[], run: string) =>
  notices.find((one) => one.workflow_id === run && one.codes)?.codes?.[0]?.code ?? 'none';

const other = (code: string) => code.slice(0, -1) + (code.endsWith('0') ? '1' : '0');

function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

test('a code answers its question from another project, once', async () => {
  const project = newProject(FLOWS);
  const elsewhere = newProject(FLOWS);
  const env = { ...project.environment };
  const notices = remember(project);
  await command(project, ['ask', '--workflow-id', 'one']);
  await command(project, ['ask', '--workflow-id', 'two']);
  const [code, second] = [codeIn(notices(), 'one'), codeIn(notices(), 'two')];

  // Whoever reads the project finds no code, and a code that is wrong in one letter is none.
  for (const one of [code, code.replaceAll('-', '')])
    expect(everythingIn(project.path('.raymond'))).not.toContain(one);
  const answer = (...args: string[]) => command(elsewhere, ['answer', ...args], { env });
  expect(await answer('--code', other(code), 'red')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('This code answers no open question of yours.'),
  });
  expect(await answer('--code', code)).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('This code needs a text.'),
  });

  expect(await answer('--code', code, 'red', '--json')).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ workflow_id: 'one', project: project.folder, agent: 'main', answered: true })}\n`,
  });
  expect(await answer('--code', code, 'blue')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already has an answer'),
  });
  expect(await command(project, ['resume', 'one'])).toMatchObject({ code: 0, stdout: 'red\n' });
  expect(project.journal('one')).toContainEqual(
    expect.objectContaining({ type: 'agent-answered', text: 'red', by: 'code' }),
  );
  expect((await answer('--code', code, 'blue')).stderr).toContain('answers no open question');

  // The question of the other run has a code of its own.
  await answer('--code', second.toLowerCase(), 'green');
  expect(await command(project, ['resume', 'two'])).toMatchObject({ code: 0, stdout: 'green\n' });
});

test('a verified delivery answers with a code', async () => {
  const project = newProject(FLOWS);
  const notices = remember(project);
  await command(project, ['ask', '--workflow-id', 'one']);
  const code = codeIn(notices(), 'one');
  const before = { ...process.env };
  Object.assign(process.env, project.environment);
  try {
    const around = await surroundings({ cwd: project.folder });
    for (const bad of [null, 'x', {}, { code: 7 }, { code, run: 'one' }, { code: '9'.repeat(101) }])
      expect(() => answerFromDelivery(around, bad)).toThrow('The delivery is not an answer.');
    expect(await answerFromDelivery(around, { code, text: 'red' })).toMatchObject({ run: 'one' });
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test('an expired code is refused, and a lifetime of 0 gives none', async () => {
  const project = newProject(FLOWS);
  const notices = remember(project, 'code_lifetime = 0\n');
  await command(project, ['ask', '--workflow-id', 'one']);
  expect(notices().every(({ codes }) => codes === undefined)).toBe(true);
  rmSync(join(project.userConfig, 'seen.jsonl'));
  const later = remember(project, 'code_lifetime = 60\n');
  await command(project, ['ask', '--workflow-id', 'two']);
  const code = codeIn(later(), 'two');
  const real = Date.now;
  Date.now = () => real() + 61_000;
  try {
    const { code: exit, stderr } = await command(project, ['answer', '--code', code, 'red']);
    expect({ exit, stderr }).toEqual({
      exit: 64,
      stderr: expect.stringMatching(/This code expired at .*raymond answer two/s),
    });
  } finally {
    Date.now = real;
  }
});

test('twenty wrong codes in an hour are enough', async () => {
  const project = newProject(FLOWS);
  const notices = remember(project);
  await command(project, ['ask', '--workflow-id', 'one']);
  const code = codeIn(notices(), 'one');
  const guess = (one: string) => command(project, ['answer', '--code', one, 'red']);
  const real = Date.now;
  const hour = 3_600_000;
  // At the beginning of the next hour, so that no hour begins during the test.
  const skip = hour - (real() % hour);
  Date.now = () => real() + skip;
  try {
    for (let n = 0; n < 20; n++)
      expect((await guess(other(code))).stderr).toContain('answers no open question');
    expect((await guess(code)).stderr).toContain('There were 20 wrong codes in this hour.');
    Date.now = () => real() + skip + hour;
    expect(await guess(code)).toMatchObject({ code: 0 });
  } finally {
    Date.now = real;
  }
});
