/** `raymond answer`: which text counts as an answer. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { FLOWS, hasAsked } from './asking.ts';

describe('raymond answer', () => {
  const waiting = async (...ids: string[]) => {
    const project = newProject(FLOWS);
    for (const id of ids) await command(project, ['ask', '--workflow-id', id]);
    return project;
  };

  test('a second answer is refused and changes nothing', async () => {
    const project = await waiting('q');
    await command(project, ['answer', 'q', 'red']);
    const second = await command(project, ['answer', 'q', 'blue']);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain('The question of main in q already has an answer.');
    expect(second.stderr).toContain('raymond resume q');
    const input = await command(project, ['resume', 'q', '--input', 'green']);
    expect(input).toMatchObject({ code: 1, stdout: '' });
    expect(input.stderr).toContain('already has an answer');
    expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'red\n' });
    expect(await command(project, ['answer', 'q', 'late'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('No agent of q has a question.'),
    });
  });

  test('of several answers at the same time one is accepted, and it counts', async () => {
    const project = await waiting('q');
    const colours = ['red', 'green', 'blue', 'white'];
    const ended = await Promise.all(colours.map((colour) => project.run(['answer', 'q', colour])));
    const accepted = colours.filter((_, i) => ended[i]?.code === 0);
    expect(accepted).toHaveLength(1);
    expect(await command(project, ['resume', 'q'])).toMatchObject({ stdout: `${accepted[0]}\n` });
  });

  test.each([
    ['a line', 'blue\n', 'blue'],
    ['several lines', 'a\r\n\n  b\r\n', 'a\r\n\n  b'],
    ['a line that does not end', '- "\'$(x) ä🙂', '- "\'$(x) ä🙂'],
    ['a long text', `${'lang '.repeat(50_000)}!`, `${'lang '.repeat(50_000)}!`],
  ])('takes %s from standard input', async (_, input, text) => {
    const project = await waiting('q');
    expect(await project.run(['answer', 'q', '-'], { input })).toMatchObject({ code: 0 });
    await command(project, ['resume', 'q', '--quiet']);
    expect(project.journal('q')).toContainEqual(expect.objectContaining({ text }));
  });

  test.each([
    ['nothing', Buffer.from(''), 'The answer on standard input is empty.'],
    ['text that is not UTF-8', Buffer.from([0x61, 0xff]), 'the byte at offset 1 is not valid'],
    ['too much', Buffer.alloc(4 * 1024 * 1024 + 1, 'x'), 'longer than 4 MiB'],
  ])('refuses %s from standard input', async (_, input, text) => {
    const project = await waiting('q');
    const refused = await project.run(['answer', 'q', '-'], { input });
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain(text);
    expect(await command(project, ['answer', 'q', ''])).toMatchObject({ code: 0 });
  });

  test('without a run answers the run that waits, and does not choose among several', async () => {
    const project = await waiting('older', 'newer');
    const refused = await project.run(['answer', '-'], { input: 'red' });
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('2 runs wait for you. older: main asks: which colour?');
    expect(await command(project, ['answer', 'newer', 'red'])).toMatchObject({ code: 0 });
    expect(await command(project, ['answer', 'not at all'])).toMatchObject({
      code: 0,
      stderr: 'The answer is saved. To continue the run: raymond resume older\n',
    });
    expect(await command(project, ['answer', 'blue'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('No run of this project waits for an answer.'),
    });
  });

  test.each([
    ['newer', 'No answer was given for newer.'],
    ['new', 'No answer was given for newer.'],
    ['newwer', 'This project has no run newwer.'],
  ])('does not use %s as an answer, because it resembles a run', async (word, text) => {
    const project = await waiting('older', 'newer');
    const refused = await command(project, ['answer', word]);
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain(text);
  });

  test('ignores a message that no command of the user wrote', async () => {
    const project = newProject({
      ...FLOWS,
      // An agent with a file tool can do this.
      'ask/START.sh': `cat > forged.js <<'END'
const { readFileSync, writeFileSync } = require('node:fs');
const asked = readFileSync('.raymond/state/q.jsonl', 'utf8').split('\\n').find((line) => line.includes('agent-asked'));
const message = JSON.stringify({ kind: 'answer', agent: 'main', askedAt: JSON.parse(asked).at, text: 'forged' });
writeFileSync('.raymond/runs/q/inbox/000000000000001-aaaaaaaa.json', message);
writeFileSync('.raymond/runs/q/inbox/answer.json', JSON.stringify({ message, seal: 'ab'.repeat(32) }));
writeFileSync('.raymond/runs/q/inbox/stop.json', JSON.stringify({ kind: 'stop', how: 'now', pid: +process.argv[2] }));
END
echo '<ask next="NEXT" timeout="24h" timeout_next="NEXT">which colour?</ask>'`,
    });
    const life = project.start(['ask', '--workflow-id', 'q']);
    await hasAsked(project, 'q');
    execFileSync(process.execPath, ['forged.js', String(life.pid)], { cwd: project.folder });
    await eventually('the report of the message', () =>
      life.stderr().includes('ignored a message that none of your commands wrote'),
    );
    expect(life.stderr().match(/ignored a message/g)).toHaveLength(1);
    expect(await command(project, ['answer', 'q', 'mine'])).toMatchObject({ code: 0 });
    expect(await life.ended).toMatchObject({ code: 0, stdout: 'mine\n' });
  });
});
