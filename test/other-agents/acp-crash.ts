// A crash of Raymond during a turn of a real agent, and a stop of it.
import { expect, test } from 'vitest';
import { eventsOf, killHard, until } from '../real-agent/raymond-sandbox.ts';
import { type AcpName, TURN_COST } from './acp-agents.ts';
import { costsIn, isAlive, play, replies } from './acp-play.ts';

export function crashPlay(name: AcpName): void {
  test(`a kill of Raymond loses no turn of ${name}, and no turn is paid twice`, async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const played = await play(
      name,
      { 'START.md': 'Do one.', 'TWO.md': 'Do two.', 'THREE.md': 'Do three.' },
      replies({
        'Do one.': '<goto>TWO</goto>',
        'Do two.': { text: '<goto>THREE</goto>', after: held },
        'Do three.': '<result>all done</result>',
      }),
    );
    const { raymond, agent } = played;
    const started = raymond.start('workflow', '--agent', name, '--workflow-id', 'r');
    await agent.model.arrived(2);
    await killHard(started.child);
    const resumed = raymond.start('resume', 'r');
    await until(() => eventsOf(raymond.journal('r'), 'run-resumed')[0]);
    release();
    expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'all done\n' });
    expect(agent.model.requests.map(({ lines }) => lines.at(-1))).toEqual([
      'user: Do one.',
      'user: Do two.',
      'user: Do three.',
    ]);
    // The adopted turn was the second one. The third continues its session in the same process.
    expect(raymond.processes()).toHaveLength(1);
    expect(agent.model.requests[2]?.lines).toHaveLength(5);
    expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toEqual([]);
    const { usd, from } = TURN_COST[name];
    const cost = { usd: expect.closeTo(usd, 9), from };
    expect(costsIn(played, 'r')).toEqual([cost, cost, cost]);
    await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
  });
}

/** Kills the agent too, so that the turn is lost. */
async function lost(name: AcpName) {
  const never = new Promise<void>(() => {});
  let turns = 0;
  const { raymond, agent } = await play(
    name,
    { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
    ({ prompt }) => {
      turns += 1;
      if (prompt === 'Do one.') return '<goto>TWO</goto>';
      return turns === 2 ? { text: 'x', after: never } : '<result>went on</result>';
    },
  );
  const started = raymond.start('workflow', '--agent', name, '--workflow-id', 'r');
  await agent.model.arrived(2);
  await killHard(started.child);
  process.kill(-(raymond.processes().at(-1) ?? 0), 'SIGKILL');
  return { raymond, agent };
}

export function lossPlay(name: AcpName): void {
  test(`a lost turn of ${name} is declared and repeated`, { timeout: 400_000 }, async () => {
    const { raymond, agent } = await lost(name);
    const resumed = await raymond.run('resume', 'r');
    expect(resumed).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toHaveLength(1);
    expect(agent.model.requests[2]?.lines.slice(0, 3)).toEqual([
      'user: Do one.',
      'assistant: <goto>TWO</goto>',
      // Some agents join the messages of a user that follow each other.
      expect.stringMatching(/^user: Do two\./),
    ]);
    await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
  });
}

/** For an agent whose sessions end with its process. */
export function gonePlay(name: AcpName): void {
  test(`a session of ${name} is gone with its process, and the state can begin in a new one`, async () => {
    const { raymond, agent } = await lost(name);
    expect(await raymond.run('resume', 'r')).toMatchObject({ code: 1 });
    expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toHaveLength(1);
    expect(eventsOf(raymond.journal('r'), 'step-failed')).toMatchObject([
      { failure: { kind: 'session-gone', message: expect.stringContaining('--fresh') } },
    ]);
    const resumed = await raymond.run('resume', 'r', '--fresh');
    expect(resumed).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(agent.model.requests[2]?.lines).toEqual(['user: Do two.']);
    await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
  });
}

export function stopPlay(name: AcpName): void {
  test(`a stop leaves no process of ${name}`, async () => {
    const never = new Promise<void>(() => {});
    const { raymond, agent } = await play(name, { 'START.md': 'Do one.' }, () => ({
      text: 'x',
      after: never,
    }));
    const started = raymond.start('workflow', '--agent', name, '--workflow-id', 'r');
    await agent.model.arrived(1);
    const [pid = 0] = raymond.processes();
    expect(isAlive(pid)).toBe(true);
    started.child.kill('SIGTERM');
    expect(await started.finished).toMatchObject({ code: 130 });
    expect(raymond.processes().filter(isAlive)).toEqual([]);
    expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toHaveLength(1);
  });
}
