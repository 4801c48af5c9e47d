// The run and people decide what opencode may do.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Asking } from '../../src/ports.ts';
import { eventsOf } from '../real-agent/raymond-sandbox.ts';
import { play } from './acp-play.ts';
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

test('rules in the configuration of opencode do not count, because the run decides', async () => {
  const { ask, file, world } = await acpWorld('opencode', ({ prompt }) => {
    const [, command] = /^run (.*)$/.exec(prompt) ?? [];
    if (command === undefined) return 'done';
    return { text: '', tool: { name: 'bash', input: { command, description: 'x' } } };
  });
  const permission = { '*': 'allow', edit: 'allow', bash: { '*': 'allow', 'touch no*': 'deny' } };
  writeFileSync(file('work/opencode.json'), JSON.stringify({ permission }));
  const touched = (name: string) => existsSync(file(`work/${name}`));
  // A project cannot allow itself commands.
  await ask('run touch yes', fresh(), { warm: false });
  expect(touched('yes')).toBe(false);
  // A run without limits has none, whatever the rules deny.
  await ask('run touch no', fresh(), { warm: false, choices: { skipPermissions: true } });
  expect(touched('no')).toBe(true);
  await world.executor.close();
});

test('a call of opencode that is allowed for the run is not asked again', {
  timeout: 300_000,
}, async () => {
  const call = (command: string) => ({
    text: '',
    tool: { name: 'bash', input: { command, description: 'a test' } },
  });
  // What the model says in the three states.
  const says = [
    ...[call('echo x >>made'), '<reset>TWO</reset>'],
    ...[call('echo x >>made'), call('echo x >>made'), '<reset>THREE</reset>'],
    ...[call('echo y >>made'), '<result>ok</result>'],
  ];
  const { raymond } = await play(
    'opencode',
    { 'START.md': 'Do one.', 'TWO.md': 'Do two.', 'THREE.md': 'Do three.' },
    (_, turn) => says[turn] ?? 'Nothing is scripted.',
  );
  const options = ['--agent', 'opencode', '--workflow-id', 'r', '--ask-permissions', '--no-warm'];
  const started = await raymond.run('workflow', ...options);
  expect(started).toMatchObject({ code: 2 });
  expect(started.stderr).toContain('; allow-run also allows repeats by opencode in ');
  expect(await raymond.run('answer', 'r', 'allow-run')).toMatchObject({ code: 0 });
  const resumed = await raymond.run('resume', 'r');
  expect(resumed).toMatchObject({ code: 2 });
  // Another process made the call twice. The next state makes another call.
  expect(readFileSync(raymond.file('made'), 'utf8')).toBe('x\nx\nx\n');
  const asked = eventsOf(raymond.journal('r'), 'permission-asked');
  expect(asked.map(({ summary }) => summary)).toEqual(['echo x >>made', 'echo y >>made']);
  const [rule] = asked[0]?.rules ?? [];
  expect(eventsOf(raymond.journal('r'), 'permission-answered')).toMatchObject([
    { decision: 'allow-run', rules: [rule] },
    { decision: 'allow', rule },
    { decision: 'allow', rule },
  ]);
  expect(await raymond.run('answer', 'r', 'allow')).toMatchObject({ code: 0 });
  expect(await raymond.run('resume', 'r')).toMatchObject({ code: 0, stdout: 'ok\n' });
});

const asking = (path: string) => ({ prompt: `run ${path}`, asksPermissions: true, agent: 'main' });
