/** A person at a terminal, played by util-linux's `script`, which gives a program a real one. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { BIN } from '../raymond.ts';

test.runIf(process.platform === 'linux')(
  'a question is put to the terminal, and its answer goes on',
  async () => {
    const project = newProject({
      'flow/START.sh': `echo '<ask next="GO">Ship it?</ask>'`,
      'flow/GO.sh': 'echo "<result>you said $RAYMOND_RESULT</result>"',
    });
    const command = `'${process.execPath}' '${BIN}' flow --workflow-id r`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: project.folder });
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      screen += text;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    await eventually('the question is on the screen', () =>
      screen.includes('main asks:\r\n  | Ship it?'),
    );
    child.stdin.write('yes please\r');
    expect(await ended).toBe(0);
    expect(screen).toContain('you said yes please');
    // A terminal gets colour and a title.
    expect(screen).toContain('\x1b]0;r: ');
    expect(screen).toContain('\x1b[32m');
  },
);
