// action.yml, executed step by step as GitHub's runner does, with the program that users install.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BIN } from '../built.ts';
import { claudeOnPath } from '../docs/claude-on-path.ts';
import { root } from '../docs/documents.ts';
import { loopbackRegistry } from '../docs/loopback-registry.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';
import { type Job, runAction } from './composite-runner.ts';

interface Setting {
  readonly inputs: Job['inputs'];
  readonly env?: Readonly<Record<string, string>>;
  readonly onStep?: Job['onStep'];
  /** Whether the PATH has `raymond` before the action begins. */
  readonly hasProgram?: boolean;
}

async function act(
  project: Project,
  { inputs, env = {}, onStep, hasProgram = inputs.package === 'installed' }: Setting,
) {
  const temp = mkdtempSync(join(tmpdir(), 'runner-'));
  onTestFinished(() => rmSync(temp, { recursive: true }));
  const bin = join(temp, 'bin');
  mkdirSync(bin);
  if (hasProgram) {
    writeFileSync(join(bin, 'raymond'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
    chmodSync(join(bin, 'raymond'), 0o755);
  }
  const path = [bin, env.PATH, dirname(process.execPath), '/usr/bin', '/bin'];
  const end = await runAction({
    ...{ action: root, workspace: project.folder, temp, inputs, ...(onStep && { onStep }) },
    env: {
      ...{ HOME: temp, LANG: 'C.UTF-8', RUNNER_OS: 'Linux', GITHUB_RUN_ID: '17' },
      ...{ ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'token of the job' },
      ...{ XDG_STATE_HOME: project.environment.XDG_STATE_HOME ?? '' },
      ...env,
      PATH: path.filter((entry) => entry !== undefined).join(':'),
    },
  });
  return { ...end, kept: (file: string) => readFileSync(join(folderOf(end), file), 'utf8') };
}

/** What the action uploads. */
function folderOf({ steps }: Awaited<ReturnType<typeof runAction>>): string {
  return steps.find(({ uses }) => uses)?.uses?.with.path ?? '';
}

const own = { package: 'installed', 'run-id': 'r' };

test('a packed archive is installed, runs a workflow, and leaves outputs, a summary and an artifact', async () => {
  const registry = await loopbackRegistry();
  onTestFinished(() => registry.close());
  const project = newProject({
    'my flöw/START.sh': 'echo "<result>heard: $RAYMOND_INPUT</result>"',
    // A stranger's registry, which nobody may ask.
    '.npmrc': 'registry=http://127.0.0.1:9/\n',
  });
  const packed = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project.folder];
  const archive = execFileSync('npm', packed, { cwd: root, encoding: 'utf8' }).trim();
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  const end = await act(project, {
    inputs: { workflow: 'my flöw', input: 'ä\nb', package: archive },
    env: {
      npm_config_registry: registry.url,
      npm_config_replace_registry_host: 'never',
      npm_config_prefer_offline: 'true',
      npm_config_cache: cache,
    },
  });
  expect(
    end.steps.map(({ name, outcome }) => [name, outcome]),
    end.log,
  ).toEqual([
    ['Install Raymond', 'success'],
    ['Run the workflow', 'success'],
    ['Keep the journal', 'success'],
  ]);
  expect(end.outputs).toMatchObject({
    ...{ result: 'heard: ä\nb', status: 'completed', cost: '0', 'exit-code': '0' },
    run: expect.stringMatching(/^github-17-[0-9a-f]{4}$/),
  });
  expect(end.commands).toEqual([]);
  // Later steps have the command as well.
  expect(end.paths.map((path) => existsSync(join(path, 'raymond')))).toEqual([true]);
  expect(end.summary).toContain('## Raymond: completed');
  expect(end.summary).toContain('```text\nheard: ä\nb\n```');
  expect(end.summary).toMatch(/```mermaid\nflowchart TD\n/);
  const upload = end.steps.at(-1);
  expect(upload?.uses).toMatchObject({
    action: 'actions/upload-artifact@v4',
    with: { name: 'raymond' },
  });
  expect(upload?.files).toEqual(['diagram.mmd', 'journal.jsonl', 'report.log']);
  const events = end.kept('journal.jsonl').trim().split('\n');
  expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ outcome: 'completed' });
});

test.each([
  {
    ...{ what: 'a failure', code: 1, status: 'failed', further: '' },
    script: 'echo no >&2; exit 3',
    said: 'error: An agent failed.',
  },
  {
    ...{ what: 'a question', code: 2, status: 'waiting', further: '' },
    script: `echo '<ask next="START">Now?</ask>'`,
    said: 'warning: The run waits for a person, or for the end of a usage limit.',
  },
  {
    ...{ what: 'a limit of steps', code: 3, status: 'stopped', further: '--max-iterations\n2\n' },
    script: 'echo "<goto>START</goto>"',
    said: 'warning: The run has reached its budget, or its limit of steps.',
  },
])(
  '$what ends the action with exit code $code',
  async ({ code, status, script, said, further }) => {
    const project = newProject({ 'flow/START.sh': script });
    const end = await act(project, {
      inputs: { ...own, workflow: 'flow', arguments: further },
    });
    expect(end.outcome).toBe('failure');
    expect(end.steps).toMatchObject([
      { name: 'Install Raymond', outcome: 'skipped' },
      { name: 'Run the workflow', outcome: 'failure', code },
      { name: 'Keep the journal', outcome: 'success' },
    ]);
    expect(end.outputs).toMatchObject({ run: 'r', status, 'exit-code': String(code) });
    expect(end.commands).toEqual([said]);
    expect(end.summary).toContain(`## Raymond: ${status}`);
    expect(end.kept('report.log')).toContain('START.sh');
  },
);

test('the budget ends the run, and its cost is an output', async () => {
  const claude = await claudeOnPath(() => ({
    content: '<goto>START</goto>',
    usage: { input_tokens: 200_000, output_tokens: 0 },
  }));
  onTestFinished(() => claude.remove());
  const project = newProject({ 'flow/START.md': 'Work.' });
  const end = await act(project, {
    inputs: { ...own, workflow: 'flow', budget: '0.5', arguments: '--model=claude-opus-4-5' },
    env: claude.environment,
  });
  expect(end.steps[1], end.log).toMatchObject({ outcome: 'failure', code: 3 });
  expect(end.outputs).toMatchObject({ status: 'stopped', cost: '1' });
  expect(end.summary).toContain('$1.00 of $0.50');
});

test('a mistake in the workflow or the options leaves a summary that says what is wrong', async () => {
  const project = newProject({ 'flow/START.sh': 'echo "<result>x</result>"' });
  const missing = await act(project, { inputs: { ...own, workflow: '--help' } });
  expect(missing.steps[1]).toMatchObject({ code: 64 });
  expect(missing.outputs).toMatchObject({ status: 'not-started', cost: '0', result: '' });
  expect(missing.summary).toContain('There is no workflow at --help.');
  const wrong = await act(project, { inputs: { ...own, workflow: 'flow', budget: 'lots' } });
  expect(wrong.steps[1]).toMatchObject({ code: 64 });
  const without = await act(project, { inputs: { ...own, workflow: 'flow' }, hasProgram: false });
  expect(without.steps[1]).toMatchObject({ code: 127 });
  expect(without.commands).toEqual([
    expect.stringContaining('error: There is no command raymond.'),
  ]);
});

test('inputs are values: no shell reads them', async () => {
  const hostile = `"; touch stolen; $(touch stolen) \`touch stolen\`\n\${{ github.token }} '\n--help %0A`;
  const project = newProject({
    '"; touch stolen;/START.sh': 'printf "<result>%s</result>" "$RAYMOND_INPUT $name"',
  });
  const end = await act(project, {
    inputs: {
      ...{ package: 'installed', workflow: '"; touch stolen;', input: hostile },
      arguments: '--set\n  name=$(touch stolen) `touch stolen`; touch stolen  \n\n--no-debug',
    },
  });
  expect(end.outcome, end.log).toBe('success');
  expect(end.outputs.result).toBe(`${hostile} $(touch stolen) \`touch stolen\`; touch stolen`);
  expect(readdirSync(project.folder).sort()).toEqual(['"; touch stolen;', '.git', '.raymond']);
  // An id that is none is refused, and reaches neither the shell nor another folder.
  const id = await act(project, {
    inputs: { ...own, workflow: '"; touch stolen;', 'run-id': '../$(touch stolen)' },
  });
  expect(id.steps[1]).toMatchObject({ code: 64 });
  expect(readdirSync(project.folder)).toHaveLength(3);
});

test('what a step of the run prints or writes cannot command the runner', async () => {
  const forged = [
    '::add-mask::completed',
    '  ::set-output name=result::forged',
    '##[add-mask]completed',
    '::stop-commands::guessed',
    '::error file=a.ts::forged',
  ];
  const project = newProject({
    'flow/START.sh': `
      env >environment
      printf '%s\\n' ${forged.map((line) => `'${line}'`).join(' ')} >&2
      for file in "$RUNNER_TEMP"/_runner_file_commands/*; do
        printf 'LD_PRELOAD=forged\\nresult=forged\\n' >>"$file"
      done
      echo 'PATH=/forged' >>"\${GITHUB_ENV:-nothing}"
      cat <<'END'
<result>${forged.join('\n')}
\`\`\`\`
<img src=x> [link](javascript:x)
result<<guessed
forged
guessed</result>
END`,
  });
  const end = await act(project, {
    inputs: { ...own, workflow: 'flow', arguments: '--verbose' },
  });
  expect(end.outcome, end.log).toBe('success');
  expect(end.log).toContain('::add-mask::completed');
  expect(end.commands).toEqual([]);
  expect(end.variables).toEqual({});
  expect(end.paths).toEqual([]);
  expect(end.outputs.status).toBe('completed');
  expect(end.outputs.result).toContain('::set-output name=result::forged');
  // All of it is in a block of code, whose fence is longer than the one in the text.
  expect(end.summary).toMatch(/### Result\n\n`{5}text\n::add-mask::completed\n(?:.*\n)*?`{5}\n/);
  const seen = project.read('environment');
  for (const secret of ['GITHUB_ENV=', 'GITHUB_OUTPUT=', 'ACTIONS_ID_TOKEN', 'RAYMOND_BUDGET='])
    expect(seen).not.toContain(secret);
  expect(seen).toContain('GITHUB_RUN_ID=17');
});

test('a job that is cancelled stops the run', async () => {
  const project = newProject({ 'flow/START.sh': 'echo >>begun; sleep 1000 & sleep 1000' });
  const end = await act(project, {
    inputs: { ...own, workflow: 'flow' },
    onStep: async (_name, pid) => {
      await eventually('the step runs', () => existsSync(project.path('begun')));
      process.kill(pid, 'SIGINT');
    },
  });
  expect(end.steps).toMatchObject([
    { outcome: 'skipped' },
    { outcome: 'failure', code: 130 },
    { outcome: 'success' },
  ]);
  expect(end.outputs.status).toBe('interrupted');
  expect(end.commands).toEqual(['warning: The run was interrupted.']);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('nothing is uploaded on request, and a long result is cut', async () => {
  const project = newProject({
    'flow/START.sh': `printf '<result>%s</result>' "$(head -c 60000 /dev/zero | tr '\\0' x)"`,
  });
  const end = await act(project, { inputs: { ...own, workflow: 'flow', artifact: 'none' } });
  expect(end.steps.at(-1)).toMatchObject({ name: 'Keep the journal', outcome: 'skipped' });
  expect(end.outputs.result).toMatch(/^x{50000}\n\.\.\. \(10000 more characters/);
  expect(end.summary.length).toBeLessThan(500_000);
});
