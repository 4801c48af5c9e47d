// Two processes of the real codex and one thread: Raymond never needs the second one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import {
  answering,
  eventsOf,
  killHard,
  raymondSandbox,
  until,
} from '../real-agent/raymond-sandbox.ts';
import { codexBinary, codexSandbox } from './codex-sandbox.ts';
import { scriptedResponses } from './scripted-responses.ts';

test('codex refuses a thread while a turn that outlived Raymond writes it, and Raymond adopts this turn', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = await scriptedResponses(({ prompt }) => {
    if (prompt === 'one') return '<goto>WORK</goto>';
    return prompt === 'two' ? { text: '<result>done</result>', after: held } : 'from outside';
  });
  const codex = await codexSandbox(model.url);
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const raymond = await raymondSandbox({
    age: 'newer',
    workflow: { 'workflow.yaml': 'agent: codex\n', 'START.md': 'one', 'WORK.md': 'two' },
    script: answering({}),
    environment,
  });
  onTestFinished(async () => {
    await raymond.remove();
    await model.close();
    await codex.remove();
  });
  const resumeOutside = async (thread: string) => {
    const args = ['exec', '--json', '--skip-git-repo-check', 'resume', thread, 'three'];
    const child = spawn(codexBinary(), args, {
      cwd: codex.work,
      env: { ...codex.environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    return { code, stderr };
  };

  const started = raymond.start('workflow', '--workflow-id', 'r');
  await model.arrived(2);
  await killHard(started.child);
  const [first] = eventsOf(raymond.journal('r'), 'step-ended');
  const thread = first?.session?.id ?? '';
  expect(await resumeOutside(thread)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`thread ${thread} already has an active writer`),
  });

  const resumed = raymond.start('resume', 'r');
  await until(() => eventsOf(raymond.journal('r'), 'run-resumed')[0]);
  release();
  expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'done\n' });
  const events = raymond.journal('r');
  expect([...eventsOf(events, 'step-failed'), ...eventsOf(events, 'step-interrupted')]).toEqual([]);
  expect(model.requests.map(({ prompt }) => prompt)).toEqual(['one', 'two']);
  // Nothing holds the thread any longer.
  expect(await resumeOutside(thread)).toMatchObject({ code: 0 });
  expect(model.requests.at(-1)?.lines).toHaveLength(5);
});
