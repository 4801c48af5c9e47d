// Checks permission requests of the real agent: decided by people.
import { describe, expect, test } from 'vitest';
import { call, living, timesOf } from './asking-run.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  sandboxes,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

describe.each(suiteAges)('in a run without a person, with the %s Claude Code', (age) => {
  test('a denial reaches the model, and what is allowed for the run is not asked again', async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.', 'NEXT.md': 'Do two.' },
      script: answering({
        'Do one.': call('one'),
        'not on main': call('two'),
        '[result': ['<reset>NEXT</reset>', '<result>done</result>'],
        'Do two.': call('three'),
      }),
    });
    const options = ['--workflow-id', 'r', '--ask-permissions', '--no-warm'];
    expect(await world.run('workflow', ...options)).toMatchObject({ code: 2 });
    await world.run('answer', 'r', 'deny', 'not on main');
    // The agent asks for another call in the same turn.
    expect(await world.run('resume', 'r')).toMatchObject({ code: 2 });
    expect(conversationLines(world.model.requests[1]).at(-1)).toContain('not on main');
    await world.run('answer', 'r', 'allow-run');
    // The next state has a new session and a new process.
    expect(await world.run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(['one', 'two', 'three'].map((name) => timesOf(world, name))).toEqual([0, 1, 1]);
    expect(eventsOf(world.journal('r'), 'permission-asked')).toHaveLength(2);
    expect(living(world)).toEqual([]);
  });
});

describe.each(suiteAges)('a call, with the %s Claude Code', (age) => {
  test('with a star is allowed once: its rule would allow others', async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.' },
      script: answering({ 'Do one.': bash('curl --version x *'), '[result': '<result>x</result>' }),
    });
    const ended = await world.run('workflow', '--workflow-id', 'r', '--ask-permissions');
    expect(ended.stderr).toContain('[raymond answer r allow|deny]');
    expect(await world.run('answer', 'r', 'allow-run')).toMatchObject({ code: 64 });
    expect(await world.run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    expect(await world.run('resume', 'r')).toMatchObject({ code: 0 });
  });

  test('that comes while Raymond is dead waits for the next process', async () => {
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.' },
      script: answering({
        'Do one.': { ...call('made'), after },
        '[result': '<result>done</result>',
      }),
    });
    const { child } = world.start('workflow', '--workflow-id', 'r', '--ask-permissions');
    await world.model.arrived(1);
    await killHard(child);
    release();
    await world.outputHas('can_use_tool');
    expect(await world.run('resume', 'r')).toMatchObject({ code: 2 });
    expect(await world.run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    expect(await world.run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(timesOf(world, 'made')).toBe(1);
    expect(world.model.requests).toHaveLength(2);
  });
});
