/** Permission requests of an agent: shown, decided, and kept across crashes. The agent is not real. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import type { RunEventOf } from '../../src/model/event.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { fakeClaude } from '../real-agent/fake-claude.ts';

const touch = (name: string, rules: readonly string[] = []) => ({
  tool_name: 'Bash',
  input: { command: `echo x >>${name}` },
  permission_suggestions: rules.map((ruleContent) => ({
    ...{ type: 'addRules', behavior: 'allow', destination: 'localSettings' },
    rules: [{ toolName: 'Bash', ruleContent }],
  })),
});
const QUESTION = {
  tool_name: 'AskUserQuestion',
  input: {
    questions: [{ question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] }],
  },
};

/** A project in which the agent makes these requests, and then gives its answer. */
async function asking(requests: readonly object[], more: { turns?: number; answer?: string } = {}) {
  const claude = await fakeClaude('asks permission', { requests, ...more });
  const project = newProject({
    'flow/START.md': 'Work.',
    'flow/NEXT.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
  });
  const env = { ...claude.environment };
  const run = (...args: string[]) => command(project, args, { env });
  const start = () => run('flow', '--workflow-id', 'r', '--ask-permissions');
  return { claude, project, env, run, start };
}

const requestsOf = (project: Project) =>
  project
    .journal('r')
    .filter(
      (event): event is RunEventOf<'permission-asked'> & { seq: number } =>
        event.type === 'permission-asked',
    );
const idsOf = (project: Project) => requestsOf(project).map(({ request }) => request);
const typesOf = (project: Project) => project.journal('r').map(({ type }) => type);
const agents = (claude: { entries(kind: string): readonly { readonly pid?: number }[] }) =>
  claude.entries('spawned').filter(({ pid }) => pid !== undefined && identify(pid));

describe('raymond answer', () => {
  test('allows a call of a run that waits, and the call happens once', async () => {
    const { claude, project, run, start } = await asking([touch('made')]);
    const ended = await start();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(
      'asks permission for Bash echo x >>made [raymond answer r allow|deny]',
    );
    expect(agents(claude)).toHaveLength(1);
    expect((await run('show', 'r')).stdout).toContain('To decide: raymond answer r allow');
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({
      condition: 'waiting',
      questions: 1,
      permissions: 1,
      agents: { running: 0 },
    });
    expect(await run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    expect(project.lines('made')).toEqual([]);
    expect(await run('answer', 'r', 'deny')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already has an answer'),
    });
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(project.lines('made')).toEqual(['x']);
    expect(claude.entries('reply')).toMatchObject([{ response: { behavior: 'allow' } }]);
    expect(agents(claude)).toEqual([]);
    expect(existsSync(project.path('.raymond/runs/r/steps/main/1/stdin'))).toBe(false);
    expect(await run('answer', 'r', 'allow')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('No agent of r has a question.'),
    });
  });

  test('denies a call with a word for the agent, also without the name of the run', async () => {
    const { claude, project, run, start } = await asking([touch('made')]);
    await start();
    expect(await run('answer', 'deny', 'not on main')).toMatchObject({ code: 0 });
    expect(await run('resume', 'r')).toMatchObject({ code: 0 });
    expect(project.lines('made')).toEqual([]);
    expect(claude.entries('reply')).toMatchObject([
      { response: { behavior: 'deny', message: 'not on main' } },
    ]);
  });

  test('needs to know which of several requests is meant', async () => {
    const { project, run, start } = await asking([touch('one'), touch('two'), QUESTION]);
    await start();
    const [one = '', two = '', question = ''] = idsOf(project);
    const several = await run('answer', 'r', 'allow');
    expect(several.code).toBe(64);
    expect(several.stderr).toContain('3 questions and permission requests of r are open');
    expect(several.stderr).toContain(`--request ${one.slice(0, 8)} (Bash echo x >>one)`);
    expect(await run('answer', 'r', 'allow', '--request', 'zzz')).toMatchObject({ code: 64 });
    await run('answer', 'r', 'allow', '--request', one.slice(0, 8));
    // The decision reaches the agent, although others are still open.
    expect(await run('resume', 'r')).toMatchObject({ code: 2 });
    await eventually('the call happens', () => project.lines('one').length === 1);
    expect(await run('answer', 'r', 'yes', '--request', two)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Answer with allow, or deny "why".'),
    });
    await run('answer', 'r', 'deny', 'why', '--request', two);
    // The last open one needs no name. It is a question, so every text is an answer.
    const answered = await run('answer', 'r', '2', '--json');
    expect(JSON.parse(answered.stdout)).toMatchObject({ request: question, decision: 'answer' });
    expect(await run('resume', 'r')).toMatchObject({ code: 0 });
    expect([project.lines('one'), project.lines('two')]).toEqual([['x'], []]);
  });

  test.each(['allow-run', 'sure'])(
    'refuses %j for a call that can be allowed once',
    async (word) => {
      const { run, start } = await asking([touch('made')]);
      await start();
      expect(await run('answer', 'r', word)).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('main of r asks permission for Bash'),
      });
      expect(await run('stop', 'r', '--now')).toMatchObject({ code: 0 });
    },
  );
});

test('what is allowed for the run holds for later processes of the agent, and after a resume', async () => {
  const { claude, run, start } = await asking([touch('made', ['echo *'])], { turns: 2 });
  await start();
  await run('answer', 'r', 'allow-run');
  expect(await run('resume', 'r')).toMatchObject({ code: 2 });
  const settings = claude.argvs().map((argv) => argv[argv.indexOf('--settings') + 1] ?? '{}');
  expect(settings.map((text) => JSON.parse(text).permissions.allow)).toEqual([
    undefined,
    ['Bash(echo *)'],
  ]);
  const reply = claude.entries('reply')[0]?.response;
  expect(reply).toMatchObject({ updatedPermissions: [{ destination: 'session' }] });
  expect(JSON.parse((await run('show', 'r', '--json')).stdout)).toMatchObject({
    own: true,
    granted: ['Bash(echo *)'],
  });
  await run('stop', 'r', '--now');
});

test('the question of an agent is answered with a text', async () => {
  const { claude, run, start } = await asking([QUESTION]);
  const { stderr } = await start();
  expect(stderr).toContain('asks: Which colour? 1. Red 2. Blue [raymond answer r "..."]');
  await run('answer', 'r', 'blue');
  expect(await run('resume', 'r')).toMatchObject({ code: 0 });
  expect(claude.entries('reply')).toMatchObject([
    { response: { updatedInput: { answers: { 'Which colour?': 'Blue' } } } },
  ]);
});

test('hostile arguments of a call do nothing to the terminal', async () => {
  const hostile = '\x1b[2J\x1b]0;x\x07\r\u202eevil\nraymond: allowed';
  const { run, start } = await asking([{ tool_name: hostile, input: { command: hostile } }]);
  const shown = [
    await start(),
    await run('show', 'r'),
    await run('list'),
    await run('answer', 'r', 'x'),
  ];
  const text = shown.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
  expect(text).toContain('evil');
  for (const control of ['\x1b', '\x07', '\r', '\u202e']) expect(text).not.toContain(control);
  expect(text).not.toMatch(/^raymond: allowed/m);
  await run('stop', 'r', '--now');
});

/** Raymond stays while WAIT works. */
const CREW = {
  'crew/START.sh': `echo '<fork next="WAIT">WORK</fork>'`,
  'crew/WORK.md': 'Work.',
  'crew/WAIT.sh': `until [ -e go ]; do sleep 0.05; done; echo '<result>waited</result>'`,
};

describe('after kill -9', () => {
  const env = { RAYMOND_RETRY_PAUSES_MS: '1,1,1' };

  /** The processes are killed while a request waits. */
  async function killed(...whom: readonly ('raymond' | 'agent')[]) {
    const world = await asking([touch('made')]);
    const { project, claude } = world;
    for (const [path, text] of Object.entries(CREW)) project.write(path, text);
    const args = ['crew', '--workflow-id', 'r', '--ask-permissions'];
    const started = project.start(args, { env: { ...world.env, ...env } });
    await eventually('the agent asks', () => idsOf(project).length === 1);
    if (whom.includes('raymond')) started.child.kill('SIGKILL');
    if (whom.includes('raymond')) await started.ended;
    const [agent] = claude.entries('spawned');
    if (whom.includes('agent') && agent?.pid !== undefined) process.kill(agent.pid, 'SIGKILL');
    return { ...world, started, go: () => project.write('go', '') };
  }

  test.each([
    ['allow', ['x']],
    ['deny', []],
  ])('of Raymond, the agent waits, and "%s" reaches it after a resume', async (word, made) => {
    const { claude, project, run, go } = await killed('raymond');
    expect(await run('answer', 'r', word)).toMatchObject({ code: 0 });
    go();
    expect(await run('resume', 'r')).toMatchObject({ code: 0 });
    expect(project.lines('made')).toEqual(made);
    expect(claude.entries('spawned')).toHaveLength(1);
    expect(claude.entries('reply')).toHaveLength(1);
  });

  test('of the agent, the request is lost, and the turn asks again', async () => {
    const { project, run, started, go } = await killed('agent');
    await eventually('another request', () => idsOf(project).length === 2);
    const [lost, open] = idsOf(project);
    expect(await run('answer', 'r', 'allow', '--request', String(lost))).toMatchObject({
      code: 64,
    });
    expect(await run('answer', 'r', 'allow', '--request', String(open))).toMatchObject({
      stderr: expect.stringContaining('delivered'),
    });
    go();
    expect(await started.ended).toMatchObject({ code: 0 });
    expect(project.lines('made')).toEqual(['x']);
  });

  test('of both, the request is lost, and an answer to it allows nothing', async () => {
    const { project, run, go } = await killed('raymond', 'agent');
    expect(await run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    go();
    expect(await run('resume', 'r')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('WORK.md was interrupted'),
    });
    expect(project.lines('made')).toEqual([]);
    await run('answer', 'r', 'allow');
    expect(await run('resume', 'r')).toMatchObject({ code: 0 });
    expect(project.lines('made')).toEqual(['x']);
  });
});

describe('a stop', () => {
  test('of a run whose agent waits ends the agent, and a resume asks again', async () => {
    const { claude, project, env, run } = await asking([touch('made')]);
    project.write('crew/START.sh', `echo '<fork next="WAIT">WORK</fork>'`);
    project.write('crew/WORK.md', 'Work.');
    project.write(
      'crew/WAIT.sh',
      `until [ -e go ]; do sleep 0.05; done; echo '<result>x</result>'`,
    );
    const started = project.start(['crew', '--workflow-id', 'r', '--ask-permissions'], { env });
    await eventually('the agent asks', () => idsOf(project).length === 1);
    started.child.kill('SIGINT');
    await eventually('the stop', () => typesOf(project).includes('stop-requested'));
    project.write('go', '');
    expect(await started.ended).toMatchObject({ code: 130 });
    expect(agents(claude)).toEqual([]);
    expect(typesOf(project)).toContain('step-interrupted');
    expect(await run('resume', 'r')).toMatchObject({ code: 2 });
    expect(idsOf(project)).toHaveLength(2);
    await run('answer', 'r', 'deny');
    expect(await run('resume', 'r')).toMatchObject({ code: 0 });
  });

  test('without a process ends the agent that was left', async () => {
    const { claude, run, start } = await asking([touch('made')]);
    await start();
    expect(await run('stop', 'r')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('To end them: raymond stop r --now'),
    });
    expect(await run('stop', 'r', '--now')).toMatchObject({ code: 0 });
    expect(agents(claude)).toEqual([]);
  });
});
