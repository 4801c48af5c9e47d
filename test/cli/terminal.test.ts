import { describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `echo '<ask next="GO">Ship it?</ask>'`,
  'flow/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
};

const QUESTION = '  | Ship it?';
/** Raymond reads typed text. */
const PROMPT = '> ';

const shows = ({ screen }: { screen(): string }, text: string) =>
  eventually(`${JSON.stringify(text)} is on the screen`, () => screen().includes(text));

describe.runIf(process.platform === 'linux')('at a terminal', () => {
  test('the person is asked, and the answer continues the run', async () => {
    const terminal = atTerminal(newProject(FLOW), ['flow', '--workflow-id', 'r']);
    await shows(terminal, QUESTION);
    terminal.type('yes please\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('  | you said yes please\r\n');
    // A terminal gets colour, and keeps its title.
    expect(terminal.screen()).not.toContain('\x1b]');
    expect(terminal.screen()).toContain('\x1b[32m');
  });

  test('with several runs waiting, the person chooses one', async () => {
    const project = newProject(FLOW);
    for (const id of ['a', 'b']) await project.run(['flow', '--workflow-id', id]);
    const terminal = atTerminal(project, ['answer', 'yes']);
    await shows(terminal, '2  b: main asks: Ship it?');
    await shows(terminal, 'Which one? (1-2) ');
    terminal.type('2\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('To continue the run: raymond resume b');
  });

  test('NO_COLOR draws the same rows without colour', async () => {
    const terminal = atTerminal(newProject(FLOW), ['flow'], { env: { NO_COLOR: '1' } });
    await shows(terminal, 'asks you');
    await shows(terminal, QUESTION);
    terminal.type('yes\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).not.toMatch(new RegExp(`${'\x1b'}\\[\\d+m`));
    expect(terminal.screen()).toContain('\x1b[A');
  });

  test.each([
    ['--plain', ['--plain'], {}],
    ['TERM=dumb', [], { TERM: 'dumb' }],
  ])('%s writes each line once, for screen readers', async (_, options, env) => {
    const flow = {
      'flow/START.sh': `echo '<goto>GO</goto>'`,
      'flow/GO.sh': `echo '<result>fine</result>'`,
    };
    const args = ['flow', '--workflow-id', 'r', ...options];
    const terminal = atTerminal(newProject(flow), args, { env });
    expect(await terminal.ended).toBe(0);
    const lines = terminal
      .screen()
      .replace(/\d\d:\d\d:\d\d/g, 'T')
      .replace(/\d+\.\d s/g, 'N s')
      .replace(/starts: .* at/, 'starts: flow at')
      .split('\r\n');
    expect(lines).toEqual([
      'T run    r starts: flow at START.sh (budget $10.00)',
      'T main   START.sh -> goto GO.sh (N s)',
      'T main   GO.sh -> result (N s): fine',
      'T run    r completed (2 steps, N s, $0.00)',
      '  | fine',
      '',
    ]);
  });

  test('raymond answer asks for the text', async () => {
    const project = newProject(FLOW);
    await project.run(['flow', '--workflow-id', 'r']);
    const terminal = atTerminal(project, ['answer', 'r']);
    await shows(terminal, QUESTION);
    terminal.type('yes please\r');
    expect(await terminal.ended).toBe(0);
    expect(await project.run(['resume', 'r'])).toMatchObject({ stdout: 'you said yes please\n' });
  });

  test('raymond answer without an answer changes nothing', async () => {
    const project = newProject(FLOW);
    await project.run(['flow', '--workflow-id', 'r']);
    const terminal = atTerminal(project, ['answer']);
    await shows(terminal, PROMPT);
    terminal.type('\x04');
    expect(await terminal.ended).toBe(64);
    expect(terminal.screen()).toContain('No answer was given.');
    expect(await project.run(['answer', 'r', 'later'])).toMatchObject({ code: 0 });
  });

  test('after Ctrl-D at a question, the question disappears and its countdown continues', async () => {
    const project = newProject({
      ...FLOW,
      'flow/START.sh': `echo '<ask next="GO" timeout="24h" timeout_next="GO">Ship it?</ask>'`,
    });
    const terminal = atTerminal(project, ['flow', '--workflow-id', 'r']);
    await shows(terminal, 'main asks (23:59:5');
    terminal.type('\x04');
    const latest = () => terminal.screen().slice(-600);
    await eventually(
      'only the agent is shown, with its countdown',
      () => /asks \(23:59:\d\d left\): Ship it\?/.test(latest()) && !latest().includes('\n> '),
    );
    await project.run(['answer', 'r', 'no']);
    expect(await terminal.ended).toBe(0);
  });
});
