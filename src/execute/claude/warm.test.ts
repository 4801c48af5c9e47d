import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patiently } from '../../../test/patiently.ts';
import { writeOwnFile } from '../../files/own-file.ts';
import { stateNameSchema } from '../../model/state-name.ts';
import type { Exit } from '../process/index.ts';
import type { ClaudeStep } from './choices.ts';
import { adjust, fixedOf, type WarmProcess, warmProcesses } from './warm.ts';

const NO_FILE = { path: '', identity: '' };

/** A process that exits when its input is closed, as Claude Code does. */
function waiting(more: Partial<WarmProcess> = {}) {
  const stdin = new PassThrough();
  const ended = new Promise<Exit>((resolve) => {
    stdin.on('finish', () => resolve({ kind: 'exited', code: 0 }));
  });
  const process: WarmProcess = {
    launched: {
      stdin,
      stdout: NO_FILE,
      stderr: NO_FILE,
      ended,
      stop: async () => [],
      endLeftovers: async () => [],
    },
    folder: '/no/such/folder',
    session: 's1',
    fixed: fixedOf(step),
    granted: new Set(['Bash(git push *)']),
    place: { rest: () => {}, work: () => {} },
    capUsd: 5,
    effort: undefined,
    permissionMode: 'acceptEdits',
    offset: 0,
    totalUsd: 3,
    spentUsd: 1,
    hasEnded: false,
    ...more,
  };
  return { process, isEnded: () => stdin.writableFinished };
}

const step: ClaudeStep = {
  kind: 'prompt',
  newWords: [],
  run: 'r',
  workflow: '/w',
  agent: 'main',
  number: 2,
  attempt: 1,
  state: stateNameSchema.parse('TWO.md'),
  cwd: '/project',
  places: [],
  taskFolder: '/task',
  deny: { fixed: ['Edit(//p)'], states: ['Edit(//flow/TWO.md)'] },
  confine: () => undefined,
  folder: '/steps/2',
  environment: {},
  idleTimeoutMs: 0,
  prompt: 'Go on.',
  choices: {},
  session: { use: 'continue', id: 's1' },
  model: 'opus',
  permissionMode: 'acceptEdits',
  allowedTools: [],
  disallowedTools: [],
  skipPermissions: false,
  budgetUsd: 4,
  previousFolder: undefined,
  warm: true,
  asksPermissions: false,
  granted: ['Bash(git push *)'],
  skipsProject: false,
};

const pool = () => warmProcesses(2, 60_000);

test('serves the next prompt of its agent in the same session', async () => {
  const warm = pool();
  const { process, isEnded } = waiting();
  warm.keep('main', process);
  expect(await warm.acquire(step)).toBe(process);
  expect(isEnded()).toBe(false);
  expect(await warm.acquire(step)).toBeUndefined();
});

test.each<[string, Partial<ClaudeStep>, Partial<WarmProcess>]>([
  ['a branch', { session: { use: 'branch', from: 's1', id: 's2' } }, {}],
  ['another directory', { cwd: '/elsewhere' }, {}],
  ['a repeated prompt', { previousFolder: '/steps/1' }, {}],
  ['other variables', { environment: { A: '1' } }, {}],
  ['other permissions', { skipPermissions: true }, {}],
  ['other tools', { allowedTools: ['Bash'] }, {}],
  ['requests of permissions', { asksPermissions: true }, {}],
  ['a rule that the process does not know', { granted: ['Bash(git push *)', 'Read'] }, {}],
  ['a rule that is no longer allowed', { granted: [] }, {}],
  [
    'other rights',
    { rights: { write: [], hide: [], network: [], places: [], taskFolder: '/t' } },
    {},
  ],
  ['other deny rules', { deny: { fixed: [], states: [] } }, {}],
  ['an effort that would have to be unset', {}, { effort: 'high' }],
  ['a smaller budget than at its start', { budgetUsd: 3.9 }, {}],
  ['a process that has died', {}, { hasEnded: true }],
  ['--no-warm', { warm: false }, {}],
])('does not serve %s, and has ended when acquire resolves', async (_, want, is) => {
  const warm = pool();
  const { process, isEnded } = waiting(is);
  warm.keep('main', process);
  expect(await warm.acquire({ ...step, ...want })).toBeUndefined();
  expect(isEnded()).toBe(true);
});

describe('a process that has not ended yet', () => {
  function ending() {
    const { process, isEnded } = waiting();
    let exit = () => {};
    const ended = new Promise<Exit>((resolve) => {
      exit = () => resolve({ kind: 'exited', code: 0 });
    });
    return { process: { ...process, launched: { ...process.launched, ended } }, isEnded, exit };
  }

  test.each<[string, ClaudeStep['session']]>([
    ['another session', { use: 'continue', id: 's2' }],
    ['a fresh session', { use: 'fresh', id: 's2' }],
    ['a branch of another session', { use: 'branch', from: 's2', id: 's3' }],
  ])('does not delay %s', async (_, session) => {
    const warm = pool();
    const { process, isEnded, exit } = ending();
    warm.keep('main', process);
    expect(await warm.acquire({ ...step, session })).toBeUndefined();
    await patiently(() => expect(isEnded()).toBe(true));
    exit();
    await warm.close();
  });

  test('delays its own session, also after a step of another one', async () => {
    const warm = pool();
    const { process, exit } = ending();
    warm.keep('main', process);
    await warm.acquire({ ...step, session: { use: 'fresh', id: 's2' } });
    const order: string[] = [];
    const acquired = warm.acquire(step).then(() => order.push('acquired'));
    await warm.acquire({ ...step, session: { use: 'fresh', id: 's3' } });
    order.push('exit');
    exit();
    await acquired;
    expect(order).toEqual(['exit', 'acquired']);
  });
});

test('ends the oldest process above the limit, before its agent continues', async () => {
  const warm = pool();
  const all = ['main', 'b', 'c'].map((agent, n) => ({
    agent,
    ...waiting({ session: `s${n + 1}` }),
  }));
  for (const { agent, process } of all) warm.keep(agent, process);
  expect(await warm.acquire(step)).toBeUndefined();
  expect(all.map(({ isEnded }) => isEnded())).toEqual([true, false, false]);
  await warm.close();
  expect(all.every(({ isEnded }) => isEnded())).toBe(true);
});

test('ends a process that has waited too long', async () => {
  const warm = warmProcesses(2, 1);
  const { process, isEnded } = waiting();
  warm.keep('main', process);
  await patiently(() => expect(isEnded()).toBe(true));
});

describe('a change', () => {
  /** A process that gives these answers, or dies. */
  async function answering(answer: (request: string) => object | 'dies') {
    const folder = await mkdtemp(join(tmpdir(), 'raymond-warm-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'stdout');
    const stdout = { path, identity: writeOwnFile(path, '{"type":"result"}\n') };
    const asked: object[] = [];
    const { process } = waiting();
    const stdin = new PassThrough();
    let die = (_exit: Exit) => {};
    const ended = new Promise<Exit>((resolve) => {
      die = resolve;
    });
    stdin.on('data', (data) => {
      for (const line of String(data).trim().split('\n')) {
        const { request_id, request } = JSON.parse(line);
        asked.push(request);
        const response = answer(request.subtype);
        if (response === 'dies') return die({ kind: 'unknown' });
        const event = { type: 'control_response', response: { request_id, ...response } };
        appendFileSync(path, `${JSON.stringify(event)}\n`);
      }
    });
    const launched = { ...process.launched, stdin, stdout, ended };
    return { process: { ...process, launched }, asked };
  }
  const changed: ClaudeStep = { ...step, effort: 'low', permissionMode: 'plan' };

  test('is requested only for a setting that differs', async () => {
    const { process, asked } = await answering(() => ({ subtype: 'success' }));
    expect(await adjust(process, step, undefined)).toBe(true);
    expect(asked).toEqual([]);
    expect(await adjust(process, changed, 'haiku')).toBe(true);
    expect(asked).toMatchObject([
      { subtype: 'set_model', model: 'haiku' },
      { subtype: 'apply_flag_settings', settings: { effortLevel: 'low' } },
      { subtype: 'set_permission_mode', mode: 'plan' },
    ]);
    expect(await adjust(process, changed, undefined)).toBe(true);
    expect(asked).toHaveLength(3);
  });

  test.each(['set_model', 'apply_flag_settings', 'set_permission_mode'])(
    'that is refused counts as failed (%s)',
    async (refused) => {
      const { process } = await answering((request) =>
        request === refused ? { subtype: 'error', error: 'no' } : { subtype: 'success' },
      );
      expect(await adjust(process, changed, 'haiku')).toBe(false);
    },
  );

  test('fails if the process dies', async () => {
    const { process } = await answering(() => 'dies');
    expect(await adjust(process, changed, 'haiku')).toBe(false);
  });
});
