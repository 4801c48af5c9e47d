// A run in a database, with the real Claude Code on two workers that share no home.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify, isAlive } from '../../src/execute/process/index.ts';
import { eventually } from '../eventually.ts';
import { killUndecided } from '../fleet/kill-undecided.ts';
import { inSuite } from '../long.ts';
import { endSurvivors, survivors } from '../survivors.ts';
import { suiteAges } from './claude-sandbox.ts';
import { bash, conversationLines, eventsOf } from './raymond-sandbox.ts';
import { realFleet } from './real-fleet.ts';
import type { Reply } from './scripted-model.ts';

const never = new Promise<void>(() => {});

// The tests mostly wait for leases and agents, so they do it together.
describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.concurrent('a prompt continues on another worker after its host has died', async ({
    onTestFinished,
  }) => {
    const replies: Reply[] = [
      'noted <goto>SECOND</goto>',
      { content: '', after: never },
      'again <call return="LAST">ASIDE</call>',
      'aside <result>said</result>',
      'done <result>ok</result>',
    ];
    const files = {
      'flow/START.md': 'Q1',
      'flow/SECOND.md': 'Q2',
      'flow/ASIDE.md': 'Q3',
      'flow/LAST.md': 'Q4 {{result}}',
    };
    const world = await realFleet(
      age,
      (_, turn) => replies[turn] ?? 'too many',
      files,
      onTestFinished,
    );
    const { fleet, model } = world;
    const { folder } = fleet.project;
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
    git('init', '-q', '--bare', join(folder, '..', 'remote.git'));
    git('init', '-q');
    const run = await fleet.begin('flow', undefined, join(folder, '..', 'remote.git'));
    const left = await world.worker('left', '--lease', '4');
    await model.arrived(2);
    left.child.kill('SIGKILL');
    await left.ended;
    // A host dies with its agents. One that is left would still write there.
    await endSurvivors(folder, fleet.stateOf('left'));
    rmSync(left.sandbox.configFolder, { recursive: true });
    const right = await world.worker('right');
    const ended = await fleet.ended(run).catch((error) => {
      throw new Error(`${right.stderr()}\n${error}`);
    });
    expect(ended.result).toBe('ok');
    const history = model.requests.map((request) =>
      conversationLines(request).map((line) => line.replace(/^\w+: /, '').split(' <')[0]),
    );
    expect(history).toEqual([
      ['Q1'],
      ['Q1', 'noted', 'Q2'],
      ['Q1', 'noted', 'Q2'],
      ['Q1', 'noted', 'Q2', 'again', 'Q3'],
      ['Q1', 'noted', 'Q2', 'again', 'Q4 said'],
    ]);
  });

  test.concurrent('an answer whose worker died before it was stored is not paid again on the same worker', async ({
    onTestFinished,
  }) => {
    let answer = () => {};
    const after = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const reply = { content: 'paid <result>once</result>', after };
    const files = { 'flow/START.md': 'Q1' };
    const world = await realFleet(age, () => reply, files, onTestFinished);
    const { fleet, model } = world;
    const run = await fleet.begin('flow');
    const first = await world.worker('left');
    await model.arrived(1);
    await killUndecided(fleet, run, first, answer);
    await world.worker('left');
    expect((await fleet.ended(run)).result).toBe('once');
    expect(model.requests).toHaveLength(1);
    expect(eventsOf(await fleet.events(run), 'step-started')).toHaveLength(1);
  });

  test.concurrent.for(inSuite(['worker'], ['machine']))(
    'a %s is stopped past its lease: the agent is ended, and nothing is stored when it wakes',
    async (what, { onTestFinished }) => {
      const writing = bash('while :; do echo x >>written; sleep 0.05; done');
      // When its shell is ended first, the agent may go on for a moment.
      const goesOn = (request: object) => JSON.stringify(request).includes('tool_result');
      const world = await realFleet(
        age,
        (request, turn) =>
          turn === 0 ? writing : `<result>${goesOn(request) ? 'left' : 'right'}</result>`,
        { 'flow/START.md': 'Q1' },
        onTestFinished,
      );
      const { fleet } = world;
      await world.begin('--allowed-tools', 'Bash');
      // The guard has a quarter of it to end the agent, also on a busy machine.
      const left = await world.worker('left', '--lease', '12');
      await fleet.file('written');
      // The agent, its wrapper, its shell.
      const agents = survivors(fleet.project.folder, fleet.stateOf('left')).flatMap(
        (line) => identify(Number.parseInt(line, 10)) ?? [],
      );
      expect(agents.length).toBeGreaterThan(2);
      const guard = JSON.parse(readFileSync(join(fleet.stateOf('left'), 'guard'), 'utf8'));
      const stopped = what === 'worker' ? [left] : [left, guard, ...agents];
      for (const { pid } of stopped) process.kill(pid, 'SIGSTOP');
      await world.worker('right');
      await eventually('the right worker has the step', async () =>
        (await fleet.events('r')).some((event) => 'worker' in event && event.worker === 'right'),
      );
      // The guard of a worker that was stopped has ended the agent before others begin.
      if (what === 'worker') expect(agents.filter(isAlive)).toEqual([]);
      for (const { pid } of stopped) if (identify(pid)) process.kill(pid, 'SIGCONT');
      await eventually('the agent is gone', () => !agents.some(isAlive));
      expect((await fleet.ended('r')).result).toBe('right');
      const events = await fleet.events('r');
      expect(eventsOf(events, 'step-interrupted')).toHaveLength(1);
      expect(eventsOf(events, 'step-ended')).toHaveLength(1);
    },
  );
});
