// A real agent of the protocol in the sandbox of a state with rights.
import { existsSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { eventsOf, killHard, until } from '../real-agent/raymond-sandbox.ts';
import { processesLeft } from '../survivors.ts';
import type { AcpName } from './acp-agents.ts';
import { play } from './acp-play.ts';
import type { Asked, Reply } from './scripted-api.ts';

const TRIES = 'echo new >out/made; echo new >beside; curl -sS -m 5 http://example.org';

export function rightsPlays(name: AcpName): void {
  test(`commands of ${name} write and reach only what their state may`, async () => {
    const { raymond, agent } = await play(
      name,
      { 'START.md': '---\nrights: { write: [out] }\n---\nrun' },
      (asked, turn) => (turn === 0 ? shell(asked, TRIES) : '<result>tried</result>'),
    );
    mkdirSync(raymond.file('out'));
    const { code, stdout, stderr } = await raymond.run(
      ...['workflow', '--agent', name, '--workflow-id', 'r'],
      '--dangerously-skip-permissions',
    );
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'tried\n' });
    expect(existsSync(raymond.file('out/made'))).toBe(true);
    expect(existsSync(raymond.file('beside'))).toBe(false);
    expect(agent.model.requests.at(-1)?.prompt).toContain('blocked by network');
    expect(eventsOf(raymond.journal('r'), 'step-ended')[0]?.refused).toEqual(
      expect.arrayContaining([
        { right: 'write', what: raymond.file('beside'), by: ['state'] },
        { right: 'network', what: expect.stringContaining('example.org'), by: ['state'] },
      ]),
    );
    expect(await processesLeft(raymond.claude.work)).toEqual([]);
  });

  // The sandbox of Claude Code shows them in the suite.
  if (!isLong) return;

  test(`a resume adopts ${name} in its sandbox after a kill, and the model is asked once`, async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { raymond, agent } = await play(
      name,
      { 'START.md': '---\nrights: { write: [] }\n---\nDo one.' },
      () => ({ text: '<result>went on</result>', after: held }),
    );
    const first = raymond.start('workflow', '--agent', name, '--workflow-id', 'r');
    await agent.model.arrived(1);
    await killHard(first.child);
    const resumed = raymond.start('resume', 'r');
    await until(() => eventsOf(raymond.journal('r'), 'run-resumed')[0]);
    release();
    expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(agent.model.requests).toHaveLength(1);
    expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toEqual([]);
    expect(await processesLeft(raymond.claude.work)).toEqual([]);
  });

  test(`a stop leaves no process of the sandbox of ${name}`, async () => {
    const never = new Promise<void>(() => {});
    const { raymond, agent } = await play(
      name,
      { 'START.md': '---\nrights: {}\n---\nDo one.' },
      () => ({ text: 'x', after: never }),
    );
    const life = raymond.start('workflow', '--agent', name, '--workflow-id', 'r');
    await agent.model.arrived(1);
    life.child.kill('SIGTERM');
    expect(await life.finished).toMatchObject({ code: 130 });
    expect(await processesLeft(raymond.claude.work)).toEqual([]);
  });
}

/** The model runs a command, with the tool of the agent. */
function shell({ tools }: Asked, command: string): Reply {
  const name = ['bash', 'Bash', 'exec_command', 'shell_command', 'run_shell_command'].find((one) =>
    tools.includes(one),
  );
  if (name === undefined) throw new Error(`No tool runs commands: ${tools.join(', ')}`);
  const key = name === 'exec_command' ? 'cmd' : 'command';
  return { text: '', tool: { name, input: { [key]: command, description: 'tries' } } };
}
