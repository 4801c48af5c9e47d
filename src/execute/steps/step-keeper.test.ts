import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeRun } from '../../../test/make-run.ts';
import { realDisk } from '../../journal/disk.ts';
import { fileRecords } from '../../journal/file-records.ts';
import { stateNameSchema } from '../../model/state-name.ts';
import { NO_COST } from '../../model/step-account.ts';
import { self } from '../process/index.ts';
import { stepMessages, writeAnswer, writeRawLocation } from './step-folder.ts';
import { stepKeeper } from './step-keeper.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-keeper-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const folderOf = (agent: string, step: number) => join(root, agent, String(step));
const folders = { step: folderOf };

function write(agent: string, step: number, files: Readonly<Record<string, string>>): void {
  const folder = folderOf(agent, step);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

const script = (agent: string, step: number, stdout = `<goto>${step}</goto>`) =>
  write(agent, step, {
    stdout,
    stderr: '',
    input: 'x',
    'process.json': '{}',
    'exit-7': 'exited 0',
  });

/** A turn that the process of this step or of an earlier step answered. */
function prompt(agent: string, step: number, by = step, identity: object = { pid: 2 ** 22 }): void {
  const process = folderOf(agent, by);
  write(agent, step, { 'turn.json': JSON.stringify({ process }) });
  if (by === step) {
    const record = { identity: { started: '1', boot: 'b', ...identity }, token: 't', command: 'c' };
    const files = { 'process.json': JSON.stringify(record), 'exit-7': 'exited 0\n' };
    write(agent, step, { ...files, stdout: `{"n":${step}}\n{"more":true}\n`, stderr: 'oh' });
  }
  writeRawLocation(folderOf(agent, step), { file: join(process, 'stdout'), from: 0, to: 9 });
  writeAnswer(folderOf(agent, step), `answer ${step}`);
}

const ended = (agent: string, step: number) =>
  ({ type: 'step-ended', seq: 1, at: 1, agent, step, cost: NO_COST, denied: [] }) as const;

const agentEnded = (agent: string) =>
  ({ type: 'agent-ended', seq: 1, at: 1, agent, result: '' }) as const;

const stepsOf = (agent: string) =>
  readdirSync(join(root, agent))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

const namesIn = (agent: string, step: number) => readdirSync(folderOf(agent, step)).sort();
async function outputOf(agent: string, step: number, kind: 'prompt' | 'script') {
  const records = fileRecords(realDisk, { folders });
  const name = kind === 'prompt' ? 'answer' : 'stdout';
  return (await records.read({ agent, step }, name, 10_000))?.toString();
}
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

async function executed(
  agent: string,
  last: number,
  make: (agent: string, step: number) => void = script,
): Promise<void> {
  const keeper = stepKeeper(folders);
  for (const step of range(1, last)) {
    make(agent, step);
    keeper.event(ended(agent, step));
  }
  await keeper.close();
}

test('keeps an agent’s newest 20 script steps, and the output of older ones', async () => {
  await executed('main', 65);
  expect(stepsOf('main')).toEqual(range(46, 65));
  expect(namesIn('main', 46)).toHaveLength(5);
  const outputs = range(1, 65).map((step) => outputOf('main', step, 'script'));
  expect(await Promise.all(outputs)).toEqual(range(1, 65).map((step) => `<goto>${step}</goto>`));
  expect(statSync(join(root, 'main', 'older.jsonl')).mode & 0o777).toBe(0o600);
});

test('drops the output of an older script step if it is longer than 1 KB', async () => {
  await executed('main', 30, (agent, step) => script(agent, step, '"'.repeat(step * 100)));
  const older = readFileSync(join(root, 'main', 'older.jsonl'), 'utf8').split('\n');
  expect(Math.max(...older.map((line) => line.length))).toBeLessThan(1024);
  expect(await outputOf('main', 2, 'script')).toBe('"'.repeat(200));
  expect(await outputOf('main', 9, 'script')).toBeUndefined();
});

test('compresses an older prompt step, which can still be read', async () => {
  await executed('main', 25, prompt);
  expect(stepsOf('main')).toEqual(range(1, 25));
  expect(namesIn('main', 5)).toEqual([
    'answer.gz',
    'raw.json',
    'stderr.gz',
    'stdout.gz',
    'turn.json',
  ]);
  expect(statSync(join(folderOf('main', 5), 'stdout.gz')).mode & 0o777).toBe(0o600);
  expect(namesIn('main', 6)).toContain('stdout');
  for (const step of [1, 5, 6, 25]) {
    expect(await outputOf('main', step, 'prompt')).toBe(`answer ${step}`);
    expect(stepMessages(folderOf('main', step), 'prompt')[0]).toEqual({ n: step });
  }
});

test('keeps the files of a process that is alive or answers one of the newest steps', async () => {
  const keeper = stepKeeper(folders);
  prompt('main', 1, 1, self());
  prompt('main', 2);
  for (const step of range(3, 22)) prompt('main', step, step < 22 ? 1 : 2);
  keeper.event(ended('main', 21));
  keeper.event(ended('main', 22));
  await keeper.close();
  expect(namesIn('main', 1)).toContain('stdout');
  expect(namesIn('main', 2)).toContain('stdout');

  for (const step of range(23, 42)) script('main', step);
  prompt('main', 1, 1);
  for (const step of range(23, 42)) keeper.event(ended('main', step));
  await keeper.close();
  expect(namesIn('main', 1)).toContain('stdout.gz');
  expect(namesIn('main', 2)).toContain('stdout.gz');
  expect(stepMessages(folderOf('main', 21), 'prompt')).toEqual([{ n: 1 }]);
  expect(stepMessages(folderOf('main', 22), 'prompt')).toEqual([{ n: 2 }]);
});

test('keeps the files of the process of a running turn', async () => {
  const keeper = stepKeeper(folders);
  prompt('main', 1);
  for (const step of range(2, 21)) script('main', step);
  write('main', 22, { 'turn.json': JSON.stringify({ process: folderOf('main', 1) }) });
  keeper.event(ended('main', 21));
  await keeper.close();
  expect(namesIn('main', 1)).toContain('stdout');
});

test('keeps the newest steps of the 100 agents that ended last', async () => {
  const keeper = stepKeeper(folders);
  const agents = range(1, 103).map((n) => `main_w${n}`);
  for (const agent of agents) {
    script(agent, 1);
    prompt(agent, 2);
    keeper.event(ended(agent, 1));
    keeper.event(ended(agent, 2));
    keeper.event(agentEnded(agent));
  }
  await keeper.close();
  expect(agents.filter((agent) => existsSync(folderOf(agent, 1)))).toEqual(agents.slice(3));
  expect(await outputOf('main_w1', 1, 'script')).toBe('<goto>1</goto>');
  expect(await outputOf('main_w1', 2, 'prompt')).toBe('answer 2');
  expect(namesIn('main_w1', 2)).toContain('stdout.gz');
});

test('catchUp does the work that an earlier process left', async () => {
  for (const step of range(1, 40)) script('main', step);
  for (const step of range(1, 25)) prompt('main_w1', step);
  const stage = makeRun({ START: [] });
  const { agents, endedAgents } = stage.run;
  const run = {
    ...stage.run,
    agents: agents.set('main', { ...stage.agent(), steps: 41 }),
    endedAgents: endedAgents.set('main_w1', {
      at: 1,
      parent: 'main',
      workflow: '/flow',
      state: stateNameSchema.parse('W.md'),
      variables: {},
      end: { kind: 'ended', result: '' } as const,
      steps: 25,
      costUsd: 0,
      isPriced: false,
      worktree: undefined,
    }),
  };
  const keeper = stepKeeper(folders);
  keeper.catchUp(run);
  await keeper.close();
  expect(stepsOf('main')).toEqual(range(21, 40));
  expect(await outputOf('main', 20, 'script')).toBe('<goto>20</goto>');
  expect(namesIn('main_w1', 5)).toContain('stdout.gz');
  expect(namesIn('main_w1', 6)).toContain('stdout');
});

test.each<[string, (folder: string) => void]>([
  ['after the line was written', () => undefined],
  ['during the removal', (folder) => rmSync(join(folder, 'stdout'))],
  ['while the line is written', (folder) => writeFileSync(olderOf(folder), '\n{"step":1,"std')],
])('a crash %s is harmless', async (_, crash) => {
  for (const step of range(1, 21)) script('main', step);
  writeFileSync(olderOf(folderOf('main', 1)), '\n{"step":1,"stdout":"<goto>1</goto>"}\n');
  crash(folderOf('main', 1));
  const keeper = stepKeeper(folders);
  keeper.event(ended('main', 21));
  await keeper.close();
  expect(stepsOf('main')).toEqual(range(2, 21));
  expect(await outputOf('main', 1, 'script')).toBe('<goto>1</goto>');
});

test('a crash during a compression is harmless', async () => {
  for (const step of range(1, 21)) prompt('main', step);
  const folder = folderOf('main', 1);
  writeFileSync(join(folder, 'stdout.gz.new'), 'half');
  writeFileSync(join(folder, 'answer.gz'), 'of another time');
  const keeper = stepKeeper(folders);
  keeper.event(ended('main', 21));
  await keeper.close();
  expect(gunzipSync(readFileSync(join(folder, 'stdout.gz'))).toString()).toContain('{"n":1}');
  expect(await outputOf('main', 1, 'prompt')).toBe('answer 1');
  expect(namesIn('main', 1).filter((name) => name.endsWith('.new'))).toEqual([]);
});

const olderOf = (folder: string) => join(dirname(folder), 'older.jsonl');
