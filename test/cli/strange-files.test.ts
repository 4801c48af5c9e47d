/** Commands that only look find untrusted files where Raymond expects its own. None waits, none crashes. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { Project } from '../raymond.ts';

const FLOW = { 'flow/START.md': 'Say <result>hello</result>.' };

/** A finished run, to be copied. */
let finished: Project;
beforeAll(async () => {
  finished = new Project(FLOW);
  expect((await finished.run(['flow', '--rehearse', '--workflow-id', 'r'])).code).toBe(0);
});
afterAll(() => finished.dispose());

interface Strange {
  readonly what: string;
  /** A process that opens it may wait or read forever. */
  readonly isEndless?: true;
  put(file: string): void;
}

const STRANGE: readonly Strange[] = [
  { what: 'a named pipe', isEndless: true, put: (file) => execFileSync('mkfifo', [file]) },
  { what: 'a link to a device', isEndless: true, put: (file) => symlinkSync('/dev/zero', file) },
  { what: 'a folder', put: (file) => mkdirSync(file) },
  { what: 'a link to itself', put: (file) => symlinkSync(file, file) },
];

interface Place {
  readonly file: string;
  /** All commands are tested with a pipe, the first one also with the other files. */
  readonly commands: readonly (readonly string[])[];
}

const ABOUT_RUNS = [
  ['list'],
  ['list', '--json'],
  ['show', 'r'],
  ['logs', 'r'],
  ['diagram', '--run', 'r'],
];

const PLACES: readonly Place[] = [
  { file: '.raymond/config.toml', commands: [['config'], ['flow', '--rehearse']] },
  { file: '.raymond/state/r.jsonl', commands: ABOUT_RUNS },
  { file: '.raymond/state/r.json', commands: ABOUT_RUNS },
  { file: '.raymond/state/r.snapshot', commands: ABOUT_RUNS },
  { file: '.raymond/runs/r/lock.1', commands: ABOUT_RUNS },
  {
    file: 'flow/START.md',
    commands: [
      ['lint', 'flow'],
      ['diagram', 'flow'],
      ['test', 'flow', '--explore'],
    ],
  },
  {
    file: 'flow/OTHER.sh',
    commands: [
      ['lint', 'flow'],
      ['diagram', 'flow', '--html'],
      ['flow', '--rehearse'],
    ],
  },
  { file: 'flow/rehearsal.yaml', commands: [['flow', '--rehearse']] },
  {
    file: 'flow/a.test.yaml',
    commands: [
      ['test', 'flow'],
      ['test', 'flow', '--explore'],
    ],
  },
  {
    file: 'flow.yaml',
    commands: [
      ['lint', 'flow.yaml'],
      ['diagram', 'flow.yaml'],
    ],
  },
  {
    file: 'flow.zip',
    commands: [
      ['lint', 'flow.zip'],
      ['diagram', 'flow.zip', '--svg'],
    ],
  },
];

describe.runIf(process.platform !== 'win32').each(STRANGE)('$what', ({ what, isEndless, put }) => {
  test.each(PLACES)('instead of $file', async ({ file, commands }) => {
    const project = newProject({});
    cpSync(finished.folder, project.folder, { recursive: true });
    mkdirSync(dirname(project.path(file)), { recursive: true });
    rmSync(project.path(file), { force: true });
    put(project.path(file));
    for (const args of what === 'a named pipe' ? commands : commands.slice(0, 1)) {
      const ended = isEndless ? project.run(args) : command(project, args);
      const { code, stderr } = await ended;
      const said = `raymond ${args.join(' ')}: ${stderr}`;
      // Without a code, a signal has ended it.
      expect([null, 70], said).not.toContain(code);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });
});

test.runIf(process.platform !== 'win32')(
  'a companion that is a link out of the workflow is not read',
  async () => {
    const project = newProject({
      ...FLOW,
      'secret.yaml': 'answers: {START: "<result>secret</result>"}',
    });
    symlinkSync('../secret.yaml', project.path('flow/rehearsal.yaml'));
    const { code, stdout, stderr } = await command(project, ['flow', '--rehearse']);
    expect(code).toBe(64);
    expect(stdout).toBe('');
    expect(stderr).toContain('rehearsal.yaml cannot be read: it is a link that leaves its folder.');
  },
);
