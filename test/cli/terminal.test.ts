import { expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

test.runIf(process.platform === 'linux')(
  'a question is put to the terminal, and its answer goes on',
  async () => {
    const project = newProject({
      'flow/START.sh': `echo '<ask next="GO">Ship it?</ask>'`,
      'flow/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
    });
    const terminal = atTerminal(project, ['flow', '--workflow-id', 'r']);
    await eventually('the question is on the screen', () =>
      terminal.screen().includes('main asks:\r\n  | Ship it?'),
    );
    terminal.type('yes please\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('  | you said yes please\r\n');
    // A terminal gets colour and a title.
    expect(terminal.screen()).toContain('\x1b]0;r: ');
    expect(terminal.screen()).toContain('\x1b[32m');
  },
);
