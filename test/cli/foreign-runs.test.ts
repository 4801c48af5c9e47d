// Runs that the user did not start here. A project can contain journals of others.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newRun } from '../../src/interpret/new-run.ts';
import type { RunEvent, RunEventOf } from '../../src/model/event.ts';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { linesOf } from '../journal/fixtures.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const FLOW = {
  'flow/START.sh': `echo >>ran; echo '<goto>NEXT</goto>'`,
  'flow/NEXT.sh': `echo >>ran; echo '<result>done</result>'`,
};

/** The user who planted the run has another key. */
const STRANGER = (project: Project) => ({
  XDG_STATE_HOME: join(dirname(project.folder), '.stranger'),
});

/** A run of another user that ended after its first step, and its options. */
async function planted(...options: string[]): Promise<Project> {
  const project = newProject(FLOW);
  const args = ['flow', '--workflow-id', 'planted', '--max-iterations', '1', ...options];
  expect(await command(project, args, { env: STRANGER(project) })).toMatchObject({ code: 3 });
  return project;
}

/** A journal that another user has written. */
function write(project: Project, run: string, events: readonly RunEvent[]): void {
  rmSync(project.path(`.raymond/state/${run}.json`), { force: true });
  writeFileSync(project.path(`.raymond/state/${run}.jsonl`), linesOf(events, 1));
}

const settings = (project: Project) =>
  project.journal('planted').flatMap((event) => ('settings' in event ? [event.settings] : []));

test('it is not reported as a crashed run, and resume --all skips it', async () => {
  const project = await planted('--dangerously-skip-permissions', '--budget', '0');
  write(project, 'planted', project.journal('planted').slice(0, 1));
  const { stderr } = await command(project, [
    'flow',
    '--workflow-id',
    'own',
    '--max-iterations',
    '1',
  ]);
  expect(stderr).not.toContain('Left behind');
  expect(stderr).toContain('not started by you here: planted');
  rmSync(project.path('ran'));
  const all = await command(project, ['resume', '--all', '--max-iterations', '2']);
  expect(all.stderr).toContain('Skipped: planted was not started by you here');
  expect(all.stderr).not.toContain('Skipped: own');
  expect(all.stdout).toBe('done\n');
  expect(project.lines('ran')).toHaveLength(1);
  const list = await command(project, ['list']);
  expect(list.stdout).toMatch(/^planted +crashed .*not yours/m);
  expect(list.stdout).toMatch(/^own +completed +/m);
  expect((await command(project, ['show', 'planted'])).stdout).toContain('NOT YOURS');
});

test('without approval it is shown, and nothing is executed', async () => {
  const project = await planted('--dangerously-skip-permissions', '--budget', '0');
  rmSync(project.path('ran'));
  const { code, stdout, stderr } = await command(project, ['resume', 'planted']);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  for (const fact of [
    `workflow     ${project.path('flow')}`,
    `directory    ${project.folder}`,
    'permissions  acceptEdits (the run had: SKIPPED)',
    'budget       $10.00 (the run had: none)',
    'raymond resume planted --trust-run',
  ])
    expect(stderr).toContain(fact);
  expect(project.lines('ran')).toEqual([]);
  expect(settings(project)).toHaveLength(1);
});

test('with approval it continues, but not with its own permissions and budget', async () => {
  const project = await planted('--dangerously-skip-permissions', '--budget', '0');
  const trusted = ['resume', 'planted', '--max-iterations', '9', '--trust-run'];
  const { code, stdout, stderr } = await command(project, trusted);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  expect(stderr).not.toContain('WARNING');
  expect(settings(project).at(-1)).toMatchObject({
    agent: { skipPermissions: false, permissionMode: 'acceptEdits' },
    budgetUsd: 10,
    maxIterations: 9,
  });
});

test('with approval it continues, but not with its own choices for the agent', async () => {
  const project = await planted(
    ...['--allowed-tools', 'Bash', '--disallowed-tools', 'WebFetch', '--settings', '{"a":1}'],
    ...['--mcp-config', '{}', '--add-dir', '.', '--append-system-prompt', 'x'],
    ...['--agent-args', '--no-chrome'],
  );
  const trusted = ['resume', 'planted', '--max-iterations', '1', '--trust-run'];
  const { code, stderr } = await command(project, [...trusted, '--add-dir', 'flow']);
  expect(code).toBe(3);
  expect(stderr).toContain('for agents   disallowedTools, addDir (the run had: allowedTools, ');
  expect(settings(project).at(-1)).toEqual({
    ...newRun.settings,
    maxIterations: 1,
    agent: {
      permissionMode: 'acceptEdits',
      skipPermissions: false,
      disallowedTools: ['WebFetch'],
      addDir: [project.path('flow')],
    },
  });
});

test('options of the command line apply, with their warning', async () => {
  const project = await planted('--budget', '99');
  const given = ['--dangerously-skip-permissions', '--budget', '0', '--max-iterations', '9'];
  const { code, stderr } = await command(project, ['resume', 'planted', '--trust-run', ...given]);
  expect(code).toBe(0);
  expect(stderr).toContain('WARNING: permissions are skipped');
  expect(stderr).toContain('permissions  SKIPPED (the run had: acceptEdits)');
  expect(settings(project).at(-1)).toMatchObject({
    agent: { skipPermissions: true },
    budgetUsd: 0,
  });
});

test('an approved run belongs to the user from then on', async () => {
  const project = await planted();
  const once = ['resume', 'planted', '--max-iterations', '1'];
  expect(await command(project, [...once, '--trust-run'])).toMatchObject({ code: 3 });
  const { code, stderr } = await command(project, ['resume', 'planted', '--max-iterations', '9']);
  expect(code).toBe(0);
  expect(stderr).not.toContain('not started by you');
});

test('a person at the terminal is asked', async () => {
  const project = await planted();
  for (const [word, code] of [
    ['no', 64],
    ['yes', 0],
  ] as const) {
    const terminal = atTerminal(project, ['resume', 'planted', '--max-iterations', '9']);
    await eventually('it asks', () => terminal.screen().includes('Resume it?'));
    expect(terminal.screen().split(/^ {2}budget {7}/m).length).toBe(2);
    terminal.type(`${word}\r`);
    expect(await terminal.ended).toBe(code);
  }
});

test.each<[string, Partial<RunEventOf<'run-started'>>]>([
  ['skips permissions', { settings: { ...newRun.settings, agent: { skipPermissions: true } } }],
  ['allows tools', { settings: { ...newRun.settings, agent: { allowedTools: ['Bash'] } } }],
  ['has no budget', { settings: { ...newRun.settings, budgetUsd: 0 } }],
  ['has another mode', { settings: { ...newRun.settings, agent: { permissionMode: 'auto' } } }],
  ['has another directory', { cwd: '/' }],
  ['has another workflow', { workflow: '/tmp/workflow' }],
])(
  'a run of the user is no longer recognised if its journal was changed so that it %s',
  async (_, change) => {
    const project = newProject(FLOW);
    await command(project, ['flow', '--workflow-id', 'own', '--max-iterations', '1']);
    expect((await command(project, ['list'])).stdout).not.toContain('not yours');
    const [started, ...others] = project.journal('own');
    if (started?.type !== 'run-started') throw new Error('It has not started.');
    write(project, 'own', [{ ...started, ...change }, ...others]);
    expect((await command(project, ['list'])).stdout).toContain('not yours');
    expect(await command(project, ['resume', 'own'])).toMatchObject({ code: 64 });
  },
);

test('the first line of one run does not make the lines of another one good', async () => {
  const project = newProject(FLOW);
  const once = ['--max-iterations', '1'];
  await command(project, ['flow', '--workflow-id', 'own', ...once]);
  await command(project, ['flow', '--workflow-id', 'planted', ...once], { env: STRANGER(project) });
  const lines = (run: string) => project.read(`.raymond/state/${run}.jsonl`).split('\n');
  const [first] = lines('own');
  const forged = [first, ...lines('planted').slice(1)].join('\n');
  writeFileSync(project.path('.raymond/state/own.jsonl'), forged);
  const { code, stderr } = await command(project, ['resume', 'own']);
  expect(code).toBe(64);
  expect(stderr).toContain('Line 2 of its journal was not written with your key');
  expect((await command(project, ['list'])).stdout).toContain('not yours: see line 2');
  expect((await command(project, ['show', 'own'])).stdout).toContain('Line 2 of its journal');
});

test.each([
  ['its folder', '.raymond/runs/planted'],
  ['a folder of its steps', '.raymond/runs/planted/steps'],
  ['its lock', '.raymond/runs/planted/lock'],
])('a link instead of %s is refused', async (_, path) => {
  const project = await planted();
  const elsewhere = join(dirname(project.folder), 'elsewhere');
  mkdirSync(elsewhere);
  rmSync(project.path(path), { recursive: true, force: true });
  symlinkSync(elsewhere, project.path(path));
  const { code, stderr } = await command(project, ['resume', 'planted', '--trust-run']);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/is a link|not a regular file/);
});

test('a new run writes nothing through existing links with its name', async () => {
  const project = newProject({ ...FLOW, 'precious/work': 'of days' });
  const step = project.path('.raymond/runs/demo/steps/main/1');
  mkdirSync(step, { recursive: true });
  symlinkSync(project.path('precious/work'), join(step, 'stdout'));
  const { code, stderr } = await command(project, ['flow', '--workflow-id', 'demo']);
  expect(code).toBe(64);
  expect(stderr).toContain(`${step}/stdout is not a regular file`);
  expect(project.read('precious/work')).toBe('of days');
});

test('answer skips a run that the user did not start unless it is named', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="GO">Your password?</ask>'`,
    'flow/GO.sh': `echo '<result>done</result>'`,
  });
  const env = STRANGER(project);
  await command(project, ['flow', '--workflow-id', 'planted', '--no-wait'], { env });
  const { code, stderr } = await command(project, ['answer', '1234']);
  expect(code).toBe(64);
  expect(stderr).toContain('No run of this project waits for an answer');
});

test('a variable that changes how programs run is refused', async () => {
  const project = await planted('--set', 'Options=1');
  const { code, stderr } = await command(project, ['resume', 'planted', '--trust-run']);
  expect(code).toBe(64);
  expect(stderr).toContain('"Options" cannot be chosen by an agent');
});

test('a run starts even if the key cannot be saved', async () => {
  const project = newProject({ ...FLOW, 'no-folder': '' });
  const env = { XDG_STATE_HOME: project.path('no-folder') };
  const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r'], { env });
  expect(code).toBe(0);
  expect(stderr).toContain('Raymond will not recognise r as yours at a resume.');
});

test('a completed run is approved, so that it can be rewound and its changes shown', async () => {
  const project = newProject(FLOW);
  const env = STRANGER(project);
  await command(project, ['flow', '--workflow-id', 'planted'], { env });
  const rewind = ['rewind', 'planted', '--to', 'main:2', '--no-files'];
  const refused = await command(project, rewind);
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain('raymond resume planted --trust-run');
  const { code, stderr } = await command(project, ['resume', 'planted', '--trust-run']);
  expect(code).toBe(0);
  expect(stderr).toContain('planted is completed.');
  expect(project.lines('ran')).toHaveLength(2);
  expect((await command(project, [...rewind, '--yes'])).code).toBe(0);
});
