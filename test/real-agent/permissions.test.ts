// Checks permission requests of the real agent: decided by people, and kept across crashes.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { ages, suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  type RaymondSandbox,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

/** Needs a permission, and leaves a line for each time. */
const call = (file: string) => bash(`mkdir -p out && curl --version >>${file}`);

function calls({ file }: RaymondSandbox, name: string): number {
  const text = existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '';
  return text.match(/^curl /gm)?.length ?? 0;
}

/** Raymond stays while WAIT works. */
const CREW = {
  'START.sh': `echo '<fork next="WAIT">WORK</fork>'`,
  'WAIT.sh': `until [ -e go ]; do sleep 0.05; done; echo '<result>waited</result>'`,
  'WORK.md': 'Do one.',
};

const living = ({ processes }: RaymondSandbox) => processes().filter((pid) => identify(pid));

describe.each(ages)('with the %s Claude Code', (age) => {
  test('kill -9 of Raymond: the agent waits, and the call happens once after "allow"', async () => {
    const world = await sandbox({
      age,
      workflow: CREW,
      script: answering({ 'Do one.': call('made'), '[result': '<result>done</result>' }),
    });
    const { child } = world.start('workflow', '--workflow-id', 'r', '--ask-permissions');
    await until(() => eventsOf(world.journal('r'), 'permission-asked').length === 1);
    await killHard(child);
    expect(await world.run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
    expect(calls(world, 'made')).toBe(0);
    await writeFile(world.file('go'), '');
    expect(await world.run('resume', 'r')).toMatchObject({ code: 0 });
    expect(calls(world, 'made')).toBe(1);
    expect(living(world)).toEqual([]);
    // The prompt was sent once: the turn was adopted, not repeated.
    expect(world.model.requests).toHaveLength(2);
  });
});

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
    expect(['one', 'two', 'three'].map((name) => calls(world, name))).toEqual([0, 1, 1]);
    expect(eventsOf(world.journal('r'), 'permission-asked')).toHaveLength(2);
    expect(living(world)).toEqual([]);
  });
});
