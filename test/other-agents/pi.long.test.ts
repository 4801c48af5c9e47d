// The real pi, and the habits of pi-acp.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { killHard } from '../real-agent/raymond-sandbox.ts';
import { realAgent, TURN_COST } from './acp-agents.ts';
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

test('all requests of a turn are counted, and tools work in any folder', async () => {
  const { ask, file, world } = await acpWorld('pi', (_, turn) =>
    turn === 0
      ? { text: 'Look.', tool: { name: 'bash', input: { command: 'echo "$PWD" > "a file"' } } }
      : 'the answer',
  );
  const cwd = file('wörk ing');
  await mkdir(cwd);
  const outcome = await ask('Do one.', fresh(), { cwd });
  expect(outcome).toMatchObject({ kind: 'answered', output: 'the answer' });
  expect(await readFile(join(cwd, 'a file'), 'utf8')).toBe(`${cwd}\n`);
  expect(outcome.account).toMatchObject({
    cost: { usd: expect.closeTo(TURN_COST.pi.usd * 2, 9), from: 'told' },
    usage: { inputTokens: 120, outputTokens: 40, cacheReadTokens: 80, cacheWriteTokens: 0 },
  });
  await world.executor.close?.();
});

test('a model without a price in the table of pi is priced from its tokens', async () => {
  const { ask, world } = await acpWorld('pi', () => 'the answer');
  const { account } = await ask('Do one.', fresh(), { choices: { model: 'unpriced' } });
  expect(account).toMatchObject({
    cost: { usd: expect.closeTo((100 * 30 + 20 * 180) / 1_000_000, 9), from: 'priced' },
    usage: { inputTokens: 60, outputTokens: 20, cacheReadTokens: 40 },
  });
  await world.executor.close?.();
});

test('a pi without models is not logged in, and a pi that is missing says so', async () => {
  const { environment, remove } = await realAgent('pi', () => 'x');
  onTestFinished(remove);
  const { PI_CODING_AGENT_DIR = '', PATH = '' } = environment;
  const bin = PATH.split(':')[0] ?? '';
  await rm(join(PI_CODING_AGENT_DIR, 'models.json'));
  const project = newProject({ 'flow/START.md': '---\nagent: pi\n---\nWork.' });
  const HOME = project.folder;
  const env = { HOME, PI_CODING_AGENT_DIR, PATH: `${bin}:/usr/bin:/bin`, ANTHROPIC_API_KEY: '' };
  const raymond = (...args: string[]) => command(project, args, { env });
  expect((await raymond('doctor')).stdout).toMatch(/^PROBLEM +login +pi is not logged in\.$/m);
  expect((await raymond('run', 'flow')).stderr).toMatch(
    /pi says: Authentication required: Configure an API key.*Launch pi in the terminal/,
  );
  await rm(join(bin, 'pi'));
  expect((await raymond('doctor')).stdout).toMatch(/^warning +pi .*starts the program "pi"/m);
  expect((await raymond('run', 'flow')).stderr).toMatch(/Could not start pi: executable not found/);
});

test('agents that work at the same time keep their own sessions', async () => {
  const { ask, model, world } = await acpWorld('pi', ({ prompt }) => `Answer to ${prompt}`);
  const names = ['a', 'b', 'c', 'd'];
  const cold = (agent: string) => ({ agent, warm: false });
  const firsts = await Promise.all(names.map((name) => ask(`1${name}`, fresh(), cold(name))));
  const seconds = await Promise.all(
    firsts.map((first, i) => ask(`2${names[i]}`, goOn(first), cold(names[i] ?? ''))),
  );
  for (const [i, outcome] of seconds.entries())
    expect(outcome).toMatchObject({ kind: 'answered', output: `Answer to 2${names[i]}` });
  for (const { account } of [...firsts, ...seconds]) expect(account.cost).toEqual(COST);
  const histories = model.requests.slice(4).map(({ lines }) => lines.join(' '));
  expect(histories.toSorted()).toEqual(
    names.map((name) => `user: 1${name} assistant: Answer to 1${name} user: 2${name}`),
  );
  expect(world.left()).toEqual([]);
});

// Like pi 0.73, it answers an unknown request without its id.
const OLD_PI = `#!${process.execPath}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, type } = JSON.parse(line);
  const data = type === 'get_state' ? { thinkingLevel: 'off' } : { models: [{ provider: 'p', id: 'm' }] };
  const isKnown = type === 'get_state' || type === 'get_available_models';
  const answer = isKnown ? { id, success: true, data } : { success: false, error: 'Unknown command' };
  console.log(JSON.stringify({ type: 'response', command: type, ...answer }));
});
`;

test('a pi that is too old is refused, with the version that is needed', async () => {
  const { ask, world, bin } = await acpWorld('pi', () => 'x');
  await writeFile(join(bin, 'pi'), OLD_PI);
  const outcome = await ask('Do one.', fresh());
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'refused' } });
  expect(JSON.stringify(outcome)).toMatch(/did not answer session\/new.*works is 0\.81\.0/);
  expect(world.left()).toEqual([]);
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

test('a pi that dies during a turn is noticed when it is silent', async () => {
  const { step, model, world, file } = await acpWorld('pi', (_, turn) =>
    turn === 0 ? { beginning: 'Half an', text: 'x', after: never } : 'the answer',
  );
  const dying = step('Do one.', fresh(), { idleTimeoutMs: 8_000 });
  const running = world.executor.start(dying, () => {});
  await model.arrived(1);
  process.kill(piIn(file('work')), 'SIGKILL');
  const outcome = await running.outcome;
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'idle' } });
  expect(world.left()).toEqual([]);
  const parts = { previousFolder: dying.folder, attempt: 2 };
  const again = world.executor.start(step('Do one.', goOn(outcome), parts), () => {});
  expect(await again.outcome).toMatchObject({ kind: 'answered', output: 'the answer' });
  expect(model.requests.map(({ lines }) => lines)).toEqual([['user: Do one.'], ['user: Do one.']]);
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

/** The process of pi itself, which gives itself a name. */
function piIn(folder: string): number {
  const found = readdirSync('/proc').find((pid) => {
    try {
      const name = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', '').trim();
      return name === 'pi' && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error('pi does not run.');
  return Number(found);
}
