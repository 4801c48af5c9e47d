// The run and people decide what opencode may do.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Asking } from '../../src/ports.ts';
import { acpWorld, fresh, goOn } from './acp-world.ts';

test('opencode asks, and the run or a person decides', async () => {
  const { ask, file, world } = await acpWorld('opencode', ({ prompt }) => {
    const [tool = '', path = ''] = prompt.split(' ');
    if (tool === 'write')
      return { text: '', tool: { name: 'write', input: { filePath: path, content: 'new' } } };
    if (tool === 'run')
      return {
        text: '',
        tool: { name: 'bash', input: { command: `touch ${path}`, description: 'x' } },
      };
    return 'done';
  });
  const work = (name: string) => file(`work/${name}`);
  const first = await ask(`write ${work('a.txt')}`, fresh());
  expect(first).toMatchObject({ kind: 'answered', denied: [] });
  expect(readFileSync(work('a.txt'), 'utf8')).toBe('new');

  // A turn ends when a call is denied, so each one has its own session.
  for (const path of [work('.raymond/config.toml'), work('flow/START.md'), file('outside.txt')])
    await ask(`write ${path}`, fresh());
  expect(existsSync(work('.raymond/config.toml'))).toBe(false);
  expect(readFileSync(work('flow/START.md'), 'utf8')).toBe('x');
  expect(existsSync(file('outside.txt'))).toBe(false);
  await ask(`run ${work('b.txt')}`, fresh());
  expect(existsSync(work('b.txt'))).toBe(false);
  await ask(`run ${work('c.txt')}`, fresh(), { choices: { skipPermissions: true } });
  expect(existsSync(work('c.txt'))).toBe(true);

  const asked: Asking[] = [];
  const step = world.executor.start(
    { ...world.step('answers'), ...asking(work('d.txt')) },
    () => {},
    (one) => asked.push(one),
  );
  await expect.poll(() => asked.length).toBe(1);
  const [request] = asked;
  if (request?.kind !== 'requested') throw new Error('There is no request.');
  expect(request.request).toMatchObject({ tool: 'execute', summary: `touch ${work('d.txt')}` });
  step.decide?.(request.request.request, { decision: 'allow' });
  const outcome = await step.outcome;
  expect(outcome).toMatchObject({ kind: 'answered', output: 'done' });
  expect(existsSync(work('d.txt'))).toBe(true);
  expect(await ask('anything', goOn(outcome))).toMatchObject({ kind: 'answered' });
  await world.executor.close();
});

const asking = (path: string) => ({ prompt: `run ${path}`, asksPermissions: true, agent: 'main' });
