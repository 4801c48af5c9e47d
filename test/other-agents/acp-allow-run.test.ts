// A call of an agent of the Agent Client Protocol that a person allows for the run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { connected } from '../mcp/connected.ts';
import { Project } from '../raymond.ts';
import { eventsOf, killHard } from '../real-agent/raymond-sandbox.ts';
import { served } from '../serve/served.ts';

const OPTIONS = [
  { optionId: 'ever', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

/** The state makes a call, and then answers. */
function wants(command: string, then: string): string {
  const call = { kind: 'execute', title: command, rawInput: { command } };
  return `wants ${JSON.stringify({ options: OPTIONS, call, then })}`;
}

/** A scripted agent stands for opencode, so it may ask people. */
function asking(states: Readonly<Record<string, string>>) {
  const project = new Project(states, 'a project ü');
  onTestFinished(() => project.dispose());
  const agent = join(import.meta.dirname, 'scripted-acp-agent.js');
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  const command = `command = ${JSON.stringify(`"${process.execPath}" "${agent}" load`)}`;
  writeFileSync(join(project.userConfig, 'config.toml'), `[agents.opencode]\n${command}\n`, {
    mode: 0o600,
  });
  const home = project.path('home');
  const env = { SCRIPTED_HOME: home };
  return {
    project,
    run: (...args: string[]) => project.run(args, { env }),
    start: (...args: string[]) => project.start(args, { env }),
    made: () => readFileSync(join(home, 'made.txt'), 'utf8').split('\n').slice(0, -1),
    asked: () => eventsOf(project.journal('r'), 'permission-asked'),
    answered: () => eventsOf(project.journal('r'), 'permission-answered'),
  };
}

const START = ['flow', '--agent', 'opencode', '--ask-permissions', '--no-warm'];

test('is not asked again, by no agent of the run, also after a kill of Raymond', async () => {
  const { run, start, made, asked, answered } = asking({
    'flow/START.md': wants('make test', '<reset>AGAIN</reset>'),
    'flow/AGAIN.md': wants('make test', '<reset>OTHER</reset>'),
    'flow/OTHER.md': wants('make clean', '<result>done</result>'),
  });
  const waiting = await run(...START, '--workflow-id', 'r');
  expect(waiting).toMatchObject({ code: 2 });
  expect(waiting.stderr).toMatch(
    /asks permission for execute make test; allow-run also allows repeats by opencode in .*: execute make test #[\w-]{43} \[raymond answer r allow\|allow-run\|deny\]/,
  );
  expect(await run('answer', 'r', 'allow-run')).toMatchObject({ code: 0 });
  // This process waits for the decision about the other call, and is killed.
  const killed = start('resume', 'r', '--wait');
  await eventually('another call waits', () => asked().length === 2);
  await killHard(killed.child);
  expect(killed.stderr()).toMatch(/was allowed by a rule of the run: repeats by opencode in /);
  expect(made()).toEqual(['make test', 'make test']);
  const [rule = ''] = asked()[0]?.rules ?? [];
  expect(answered()).toMatchObject([{ decision: 'allow-run', rules: [rule] }, { rule }]);
  expect(asked()[1]).toMatchObject({ summary: 'make clean' });

  expect(await run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
  expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(made()).toEqual(['make test', 'make test', 'make clean']);
});

/** How a person decides, other than on the command line. */
const WAYS = {
  'the API': async (project: Project, decision: object) => {
    const server = await served(project);
    const { status } = await server.post('/api/runs/r/permission', decision);
    expect(status).toBe(200);
  },
  'an MCP server that may decide': async (project: Project, decision: object) => {
    const { call } = await connected(project, '--decide-permissions');
    expect(await call('decide', { run: 'r', ...decision })).toMatchObject({ isError: false });
  },
};

test.each(Object.entries(WAYS))(
  'over %s, it settles the same call of all children that wait',
  async (_, decide) => {
    const { run, made, asked, answered, project } = asking({
      'flow/START.sh': `echo '<fork>WORK</fork><fork>WORK</fork><join>DONE</join>'`,
      'flow/WORK.md': wants('make test', '<result>tested</result>'),
      'flow/DONE.sh': "echo '<result>joined</result>'",
    });
    expect(await run(...START, '--workflow-id', 'r', '--budget', '0')).toMatchObject({ code: 2 });
    const [first, second, ...others] = asked();
    expect([first?.rules, others]).toEqual([second?.rules, []]);
    expect(second?.request).not.toBe(first?.request);
    await decide(project, { request: first?.request, decision: 'allow-run' });
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'joined\n' });
    expect(made()).toHaveLength(2);
    expect(answered().map(({ agent, decision }) => [agent, decision])).toEqual([
      [first?.agent, 'allow-run'],
      [second?.agent, 'allow'],
    ]);
  },
);
