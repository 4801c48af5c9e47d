// The real pi over pi-acp: what it does beside the protocol.
import { expect, test } from 'vitest';
import { killHard } from '../real-agent/raymond-sandbox.ts';
import { TURN_COST } from './acp-agents.ts';
import { costsIn, isAlive, play } from './acp-play.ts';
import { acpWorld, fresh, goOn } from './acp-world.ts';

const never = new Promise<void>(() => {});
const COST = { usd: expect.closeTo(TURN_COST.pi.usd, 9), from: 'told' };

test.each([
  [401, 'not-logged-in'],
  [429, 'overloaded'],
  [500, 'overloaded'],
  [400, 'refused'],
])('an error %i of the service is a failure of the kind %s', async (status, kind) => {
  const { ask, world } = await acpWorld('pi', () => ({ status, error: { message: 'no' } }));
  expect(await ask('Do one.', fresh())).toMatchObject({ kind: 'failed', failure: { kind } });
  await world.executor.close?.();
  expect(world.left()).toEqual([]);
});

test('an error that passes is no part of the answer', async () => {
  const { ask, model, world } = await acpWorld('pi', (_, turn) =>
    turn === 0 ? { status: 503, error: { message: 'busy' } } : 'the answer',
  );
  const outcome = await ask('Do one.', fresh());
  expect(outcome).toMatchObject({ kind: 'answered', output: 'the answer' });
  expect(outcome.account.cost).toEqual(COST);
  expect(model.requests).toHaveLength(2);
  await world.executor.close?.();
});

test('a model applies to the turns that name it', async () => {
  const { ask, model, world } = await acpWorld('pi', () => 'the answer');
  const first = await ask('Do one.', fresh(), { choices: { model: 'm2' } });
  await ask('Do two.', goOn(first));
  const unknown = await ask('Do three.', goOn(first), { choices: { model: 'm3' } });
  expect(model.requests.map((asked) => asked.model)).toEqual(['m2', 'm1']);
  expect(unknown).toMatchObject({ kind: 'failed', failure: { kind: 'unknown-model' } });
  await world.executor.close?.();
});

test.each(['with Raymond', 'alone'])('a first turn that is lost %s begins again', async (how) => {
  const played = await play('pi', { 'START.md': 'Do one.' }, (_, turn) =>
    turn === 0 ? { beginning: 'Half an', text: 'x', after: never } : '<result>went on</result>',
  );
  const { raymond, agent } = played;
  const started = raymond.start('workflow', '--agent', 'pi', '--workflow-id', 'r');
  await raymond.outputHas('Half an');
  if (how === 'with Raymond') await killHard(started.child);
  process.kill(-(raymond.processes().at(-1) ?? 0), 'SIGKILL');
  const ended = await (how === 'alone' ? started.finished : raymond.run('resume', 'r'));
  expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: 'went on\n' });
  expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
    ['user: Do one.'],
    ['user: Do one.'],
  ]);
  expect(costsIn(played, 'r').at(-1)).toEqual(COST);
  await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
});
