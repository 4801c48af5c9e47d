/** The live view in a real terminal. The expected screens are in the folder `screens`. */
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { TmuxTerminal } from './tmux.ts';

const SMALL = { columns: 80, rows: 24 };
const MIDDLE = { columns: 100, rows: 30 };
const LARGE = { columns: 140, rows: 40 };

/** Waits for a file that the test writes. */
const UNTIL = (file: string) => `while [ ! -e ${file} ]; do sleep 0.02; done`;

const forks = (count: number) =>
  `for part in $(seq ${count}); do printf '<fork next="COLLECT" part="%s">WORK</fork>' $part; done`;

const WORKERS = {
  'five/START.sh': forks(5),
  'sixty/START.sh': forks(60),
  ...Object.fromEntries(
    ['five', 'sixty'].flatMap((flow) => [
      [`${flow}/COLLECT.sh`, `echo '<join>DONE</join>'`],
      [
        `${flow}/WORK.sh`,
        `if [ $part = 3 ]; then ${UNTIL('fail')}; echo 'no space left on the device' >&2; exit 3; fi
        ${UNTIL('go')}; echo "<result>part $part</result>"`,
      ],
      [`${flow}/DONE.sh`, `echo '<result>all done</result>'`],
    ]),
  ),
};

/** An agent that calls a tool and waits for a file, or that has reached its usage limit. */
const AGENT = `#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
const say = (event) => process.stdout.write(JSON.stringify({ session_id: 'S', ...event }) + '\\n');
const usage = { input_tokens: 20000, output_tokens: 500 };
const message = { id: 'm', model: 'claude-sonnet-4', usage };
const end = { type: 'result', subtype: 'success', stop_reason: 'end_turn', permission_denials: [] };
for await (const line of createInterface({ input: process.stdin })) {
  const { type, message: asked } = JSON.parse(line);
  if (type !== 'user') continue;
  say({ type: 'system', subtype: 'init', model: 'x', claude_code_version: '2.1.325' });
  if (JSON.stringify(asked).includes('limit')) {
    const result = "You've hit your limit · resets in 30m";
    say({ ...end, is_error: true, api_error_status: 429, result, total_cost_usd: 0 });
    process.exit(1);
  }
  const input = { command: \`npm test -- \${process.cwd()}/src/a.ts\` };
  say({ type: 'assistant', message: { ...message, content: [{ type: 'tool_use', name: 'Bash', input }] } });
  while (!existsSync('go')) await delay(20);
  const result = 'Fine. <result>It is tested.</result>';
  say({ type: 'assistant', message: { ...message, content: [{ type: 'text', text: result }] } });
  say({ ...end, is_error: false, result, total_cost_usd: 0.25 });
}
`;

const PROMPTS = {
  'verify/START.md': 'Test it.',
  'limit/START.md': 'Find the limit.',
  'agent.mjs': AGENT,
};

function promptProject(): { project: Project; env: Record<string, string> } {
  const project = newProject(PROMPTS);
  chmodSync(project.path('agent.mjs'), 0o700);
  return { project, env: { RAYMOND_CLAUDE: project.path('agent.mjs') } };
}

test('a run: the agent with its tool call and its cost so far, then the result', async () => {
  const { project, env } = promptProject();
  const terminal = new TmuxTerminal(project, SMALL, env);
  await terminal.run('raymond verify --workflow-id r');
  await terminal.showsScreen('run', 'Bash npm test -- src/a.ts');
  project.write('go', '');
  await terminal.showsScreen('run-ended', '| It is tested.');
  await terminal.isAsBefore();
});

test('five children, in a terminal that becomes larger and smaller', async () => {
  const project = newProject(WORKERS);
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond five --workflow-id r');
  await terminal.showsScreen('five-80x24', 'waits for 5 of 5');
  terminal.resize(MIDDLE);
  await terminal.showsScreen('five-100x30', 'waits for 5 of 5');
  terminal.resize(LARGE);
  await terminal.showsScreen('five-140x40', 'waits for 5 of 5');
  terminal.resize({ columns: 60, rows: 24 });
  await terminal.showsScreen('five-60x24', 'waits for');
  terminal.resize(SMALL);
  // A line that is printed before Raymond knows the new size has the old width.
  await terminal.shows('waits for 5 of 5 children');
  project.write('fail', '');
  await terminal.showsScreen('five-one-failed', 'failed: WORK.sh');
  project.write('go', '');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

test('sixty children are summarised, and a failed one comes first', async () => {
  const project = newProject(WORKERS);
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond sixty --workflow-id r');
  await terminal.shows('join 60 child agents');
  project.write('fail', '');
  await terminal.showsScreen('sixty-80x24', 'failed: WORK.sh');
  terminal.resize(LARGE);
  await terminal.showsScreen(
    'sixty-140x40',
    'failed: WORK.sh exited with 3. It said: no space left on the device',
  );
  project.write('go', '');
  await terminal.shows('r completed');
  await terminal.isAsBefore();
});

const ASK = {
  'ask/START.sh': `echo '<ask next="GO">Ship it?
There are three open issues.</ask>'`,
  'ask/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
};

test('a question is answered in place', async () => {
  const terminal = new TmuxTerminal(newProject(ASK), SMALL);
  await terminal.run('raymond ask --workflow-id r');
  await terminal.shows('\n>');
  terminal.type('-l', 'yez');
  await terminal.shows('> yez');
  terminal.type('BSpace', 's');
  await terminal.showsScreen('ask', '> yes');
  terminal.type('Enter');
  await terminal.showsScreen('ask-ended', '| you said');
  await terminal.isAsBefore();
});

/** Before midnight, the end of a wait has a date. */
const WHERE_IT_IS_NOON = `NOON${new Date().getUTCHours() - 12}`;

test('a usage limit has a countdown, and Ctrl-C ends the wait', async () => {
  const { project, env } = promptProject();
  const terminal = new TmuxTerminal(project, SMALL, { ...env, TZ: WHERE_IT_IS_NOON });
  await terminal.run('raymond limit --workflow-id r');
  await terminal.showsScreen('limit', 'left, until');
  terminal.type('C-c');
  await terminal.showsScreen('limit-ended', 'r interrupted');
  await terminal.isAsBefore();
});

test('a failure', async () => {
  const project = newProject({ 'bad/START.sh': `echo 'no such table' >&2; exit 4` });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond bad --workflow-id r');
  await terminal.showsScreen('failure-ended', 'r failed');
  await terminal.isAsBefore();
});

test('a stop: the first Ctrl-C lets steps finish, the second one stops them', async () => {
  const project = newProject({ 'wait/START.sh': UNTIL('go') });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond wait --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('C-c');
  await terminal.showsScreen('stop', 'stopping: no new');
  terminal.type('C-c');
  await terminal.showsScreen('stop-ended', 'r interrupted');
  await terminal.isAsBefore();
});

test.each([
  ['wait', '1 running', 'killed-ended'],
  ['ask', '\n>', 'killed-typing-ended'],
])('kill -9 during %s leaves the terminal as it was', async (flow, shown, screen) => {
  const project = newProject({ ...ASK, 'wait/START.sh': UNTIL('go') });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run(`raymond ${flow} --workflow-id r`);
  await terminal.shows(shown);
  process.kill(await pidOf(project), 'SIGKILL');
  await terminal.showsScreen(screen, 'Killed');
  await terminal.isAsBefore();
  project.write('go', '');
});

test('a suspended run continues below the shell, and draws nothing in the background', async () => {
  const project = newProject({ 'wait/START.sh': UNTIL('go') });
  const terminal = new TmuxTerminal(project, SMALL);
  await terminal.run('raymond wait --workflow-id r');
  await terminal.shows('1 running');
  terminal.type('C-z');
  await terminal.shows('Stopped');
  terminal.type('clear; bg', 'Enter');
  await eventually('the shell has the screen', () => /^\$?.*raymond.*&$/m.test(terminal.screen()));
  terminal.type('fg', 'Enter');
  await terminal.shows('1 running');
  project.write('go', '');
  await terminal.shows('r failed');
  await terminal.isAsBefore();
});

async function pidOf(project: Project): Promise<number> {
  const { stdout } = await command(project, ['show', 'r', '--json']);
  const { pid } = JSON.parse(stdout);
  expect(pid).toBeGreaterThan(1);
  return pid;
}
