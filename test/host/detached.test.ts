/** A run in a process without standard streams is watched, answered and stopped only through the store. */
import { type ChildProcess, spawn } from 'node:child_process';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { JournaledEvent } from '../../src/model/event.ts';
import { bundled } from '../bundled.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { processesLeft } from '../survivors.ts';
import { projectHost } from './project-host.ts';

let program = '';
beforeAll(async () => {
  const made = await bundled(new URL('./detached.ts', import.meta.url));
  program = made.program;
  return made.remove;
});

const FLOW = {
  'flow/START.sh': `echo '<ask next="SLEEP" timeout="24h" timeout_next="SLEEP">which colour?</ask>'`,
  'flow/SLEEP.sh': `echo "$RAYMOND_RESULT" >>asleep; until [ -e morning ]; do sleep 0.05; done; echo "<result>$RAYMOND_RESULT</result>"`,
};

async function detachedRun() {
  const project = newProject(FLOW);
  const { store } = await projectHost(project.folder);
  const start = () => {
    const child = spawn(process.execPath, [program, project.folder, 'r', 'flow'], {
      stdio: 'ignore',
      detached: true,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const has = async (type: JournaledEvent['type']) => {
    if (!(await store.list()).includes('r')) return undefined;
    for await (const event of store.events('r')) if (event.type === type) return event;
    return undefined;
  };
  const answer = async () => {
    await eventually('it asks', async () => (await has('agent-asked')) !== undefined);
    const askedAt = (await has('agent-asked'))?.at ?? 0;
    await store.mailbox('r').post({ kind: 'answer', agent: 'main', askedAt, text: 'red' });
    await eventually('a step sleeps', () => project.lines('asleep').length > 0);
  };
  const run = async () => {
    const found = await store.look('r');
    return found.kind === 'stored' ? found.run : undefined;
  };
  return { project, store, start, answer, run };
}

const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));

test('an answer reaches it, and its result is found in the store', async () => {
  const { project, store, start, answer, run } = await detachedRun();
  const child = start();
  const end = ended(child);
  await answer();
  expect((await store.owner('r'))?.pid).toBe(child.pid);
  expect(await store.mailbox('r').messages()).toEqual([]);
  project.write('morning', '');
  expect(await end).toBe(0);
  expect(await run()).toMatchObject({ result: 'red', status: { outcome: 'completed' } });
  expect(await store.owner('r')).toBeUndefined();
});

test('a stop reaches it, leaves nothing running, and the next process continues', async () => {
  const { project, store, start, answer, run } = await detachedRun();
  const first = start();
  const end = ended(first);
  await answer();
  await store.mailbox('r').post({ kind: 'stop', how: 'now', pid: first.pid ?? 0 });
  expect(await end).toBe(0);
  expect(await run()).toMatchObject({ status: { outcome: 'interrupted' } });
  expect(await processesLeft(project.folder)).toEqual([]);

  project.write('morning', '');
  expect(await ended(start())).toBe(0);
  expect(await run()).toMatchObject({ result: 'red', status: { outcome: 'completed' } });
});

test('after a kill, the next process adopts its step', async () => {
  const { project, start, answer, run } = await detachedRun();
  const first = start();
  const end = ended(first);
  await answer();
  first.kill('SIGKILL');
  await end;
  const second = ended(start());
  project.write('morning', '');
  expect(await second).toBe(0);
  expect(await run()).toMatchObject({ result: 'red', status: { outcome: 'completed' } });
  expect(project.lines('asleep')).toEqual(['red']);
});
