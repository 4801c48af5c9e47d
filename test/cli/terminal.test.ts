import { describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `echo '<ask next="GO">Ship it?</ask>'`,
  'flow/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
};

const QUESTION = 'main asks:\r\n  | Ship it?';
/** The cursor is after "> ", and Raymond reads typed text. */
const PROMPT = '> \x1b[3G';

const shows = ({ screen }: { screen(): string }, text: string) =>
  eventually(`${JSON.stringify(text)} is on the screen`, () => screen().includes(text));

describe.runIf(process.platform === 'linux')('at a terminal', () => {
  test('the person is asked, and the answer continues the run', async () => {
    const terminal = atTerminal(newProject(FLOW), ['flow', '--workflow-id', 'r']);
    await shows(terminal, QUESTION);
    terminal.type('yes please\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('  | you said yes please\r\n');
    // A terminal gets colour and a title.
    expect(terminal.screen()).toContain('\x1b]0;r: ');
    expect(terminal.screen()).toContain('\x1b[32m');
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

  test('after Ctrl-D at a question with a deadline, the terminal shows how long the run waits', async () => {
    const project = newProject({
      ...FLOW,
      'flow/START.sh': `echo '<ask next="GO" timeout="24h" timeout_next="GO">Ship it?</ask>'`,
    });
    const terminal = atTerminal(project, ['flow', '--workflow-id', 'r']);
    await shows(terminal, PROMPT);
    expect(terminal.screen()).not.toContain('waits for an answer');
    terminal.type('\x04');
    await shows(terminal, 'waits for an answer: 23 h 59 min left');
    await project.run(['answer', 'r', 'no']);
    expect(await terminal.ended).toBe(0);
  });
});
