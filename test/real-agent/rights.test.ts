// The kernel confines the real agent and the commands that it runs.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesWith } from '../files-with.ts';
import { processesLeft } from '../survivors.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

const front = (rights: string) => `---\nrights: ${rights}\nallowed_tools: [Bash]\n---\n`;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('commands of a state with rights write and reach only what they may, and a reminder says so', async () => {
    const head = front('{ write: [out] }').replace(
      '---\n',
      '---\nallowed_transitions: [{ tag: result }]\n',
    );
    const { file, run, model, journal } = await sandbox({
      age,
      workflow: { 'START.md': `${head}Work.` },
      script: (_, turn) =>
        [
          bash('echo new > out/made; echo new > beside; echo done'),
          bash('curl -sS -m 5 http://example.org'),
          'I tried.',
        ][turn] ?? '<result>tried</result>',
    });
    const { code, stdout, stderr } = await run('workflow', '--workflow-id', 'r');
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'tried\n' });
    expect(readFileSync(file('out/made'), 'utf8')).toBe('new\n');
    expect(existsSync(file('beside'))).toBe(false);
    expect(conversationLines(model.requests.at(-1)).join('\n')).toContain('blocked by network');
    expect(stderr).toContain('the sandbox refused: ');
    expect(stderr).toContain('network example.org');
    // The places that a sandbox holds are not the step's.
    expect(stderr).not.toContain('Programs take commands');
    expect(eventsOf(journal('r'), 'step-ended')[0]?.refused).toEqual(
      expect.arrayContaining([
        { right: 'write', what: file('beside'), by: ['state'] },
        { right: 'network', what: expect.stringMatching(/^example\.org/), by: ['state'] },
      ]),
    );
    const { text } = eventsOf(journal('r'), 'agent-reminded')[0] ?? {};
    expect(text).toMatch(/^- Network to example\.org\S* is not allowed in this state\.$/m);
    expect(text).toContain(`- Writing to ${file('beside')} is not allowed in this state.`);
  });

  test('one process serves states with the same rights, and another one those with others', async () => {
    const { run, processes } = await sandbox({
      age,
      workflow: {
        'START.md': `${front('{ write: [out] }')}Do one.`,
        'TWO.md': `${front('{ write: [out] }')}Do two.`,
        'THREE.md': `${front('{ write: [] }')}Do three.`,
      },
      script: answering({
        'Do one.': '<goto>TWO</goto>',
        'Do two.': '<goto>THREE</goto>',
        'Do three.': '<result>done</result>',
      }),
    });
    expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(processes()).toHaveLength(2);
  });

  test("what the sandbox puts into the place of missing command files is nobody's work", async () => {
    const { run, claude, processes } = await sandbox({
      age,
      workflow: {
        'START.md': `${front('{}')}Do one.`,
        'TWO.md': `${front('{}')}Do two.`,
        'END.sh': 'ls -A; echo "<result>done</result>"',
      },
      script: answering({ 'Do one.': '<goto>TWO</goto>', 'Do two.': '<goto>END</goto>' }),
    });
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: claude.work });
    git('init', '-q');
    const options = ['--checkpoints', 'steps', '--workflow-id', 'r'];
    expect(await run('workflow', ...options)).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(processes()).toHaveLength(1);
    expect(await run('diff', 'r')).toMatchObject({ stdout: '' });
    expect(git('status', '--short').toString()).toBe('?? workflow/\n');
  });

  test('neither the agent nor the model sees a secret of its state, only a stand-in', async () => {
    const value = 'ghp_q8Zr7xyz1234567890';
    const { run, model, claude } = await sandbox({
      age,
      workflow: {
        'START.md': `${front('{ network: [api.example], secrets: [TOKEN] }')}Work.`,
      },
      environment: { TOKEN: value },
      script: (_, turn) =>
        [bash('echo "it is $TOKEN"; env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"')][turn] ??
        '<result>looked</result>',
    });
    const { code, stdout, stderr } = await run('workflow', '--workflow-id', 'r');
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'looked\n' });
    const asked = JSON.stringify(model.requests);
    expect(asked).toMatch(/it is (?!ghp_)\S+/);
    expect(asked).not.toContain(value);
    expect(filesWith(dirname(claude.work), [value])).toEqual([]);
  });

  test('a stop leaves no process of the sandbox', async () => {
    const { start, file } = await sandbox({
      age,
      workflow: { 'START.md': `${front('{ write: [out] }')}Work.` },
      script: () => bash('echo begun > out/begun; sleep 300'),
    });
    const life = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('out/begun')));
    life.child.kill('SIGTERM');
    expect(await life.finished).toMatchObject({ code: 130 });
    expect(await processesLeft(file('.'))).toEqual([]);
  });
});

test.each(suiteAges)(
  'after a kill of Raymond, a resume adopts the confined agent, and the model is asked once (%s)',
  async (age) => {
    const { start, model, file, journal } = await sandbox({
      age,
      workflow: { 'START.md': `${front('{ write: [out] }')}Do one.` },
      script: answering({
        'Do one.': bash('echo line >> out/effects; until [ -e go ]; do sleep 0.05; done'),
        '[result': '<result>went on</result>',
      }),
    });
    const first = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('out/effects')));
    await killHard(first.child);
    const resumed = start('resume', 'r');
    await until(() => eventsOf(journal('r'), 'run-resumed')[0]);
    await writeFile(file('go'), '');
    expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(readFileSync(file('out/effects'), 'utf8')).toBe('line\n');
    expect(model.requests).toHaveLength(2);
    expect(eventsOf(journal('r'), 'step-interrupted')).toEqual([]);
  },
);
