import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { stateNameSchema } from '../../model/state-name.ts';
import type { PromptStep } from '../../ports.ts';
import type { Exit } from '../process.ts';
import { adjustments, type WarmProcess, WarmProcesses } from './warm.ts';

/** A process that exits when its input is closed, as Claude Code does. */
function waiting(more: Partial<WarmProcess> = {}) {
  const stdin = new PassThrough();
  const ended = new Promise<Exit>((resolve) => {
    stdin.on('finish', () => resolve({ kind: 'exited', code: 0 }));
  });
  const process: WarmProcess = {
    launched: {
      stdin,
      stdoutFile: '',
      stderrFile: '',
      ended,
      stop: async () => [],
      endLeftovers: async () => [],
    },
    folder: '/no/such/folder',
    session: 's1',
    cwd: '/project',
    environment: '[]',
    skipPermissions: false,
    capUsd: 5,
    model: 'opus',
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

const step: PromptStep = {
  kind: 'prompt',
  run: 'r',
  workflow: '/w',
  agent: 'main',
  number: 2,
  attempt: 1,
  state: stateNameSchema.parse('TWO.md'),
  cwd: '/project',
  folder: '/steps/2',
  environment: {},
  idleTimeoutMs: 0,
  prompt: 'Go on.',
  session: { use: 'continue', id: 's1' },
  model: 'opus',
  effort: undefined,
  permissionMode: 'acceptEdits',
  allowedTools: [],
  disallowedTools: [],
  skipPermissions: false,
  budgetUsd: 4,
  previousFolder: undefined,
  warm: true,
};

const pool = () => new WarmProcesses(2, 60_000);

test('serves the next prompt of its agent in the same session', async () => {
  const warm = pool();
  const { process, isEnded } = waiting();
  warm.keep('main', process);
  expect(await warm.take(step)).toBe(process);
  expect(isEnded()).toBe(false);
  expect(await warm.take(step)).toBeUndefined();
});

test.each<[string, Partial<PromptStep>, Partial<WarmProcess>]>([
  ['another session', { session: { use: 'continue', id: 's2' } }, {}],
  ['a fresh session', { session: { use: 'fresh', id: 's2' } }, {}],
  ['a branch', { session: { use: 'branch', from: 's1', id: 's2' } }, {}],
  ['another directory', { cwd: '/elsewhere' }, {}],
  ['a repeated prompt', { previousFolder: '/steps/1' }, {}],
  ['other variables', { environment: { A: '1' } }, {}],
  ['other permissions', { skipPermissions: true }, {}],
  ['an effort that would have to be taken back', {}, { effort: 'high' }],
  ['less money than it was told of', { budgetUsd: 3.9 }, {}],
  ['a process that has died', {}, { hasEnded: true }],
  ['--no-warm', { warm: false }, {}],
])('does not serve %s, and has ended before anything else is done', async (_, want, is) => {
  const warm = pool();
  const { process, isEnded } = waiting(is);
  warm.keep('main', process);
  expect(await warm.take({ ...step, ...want })).toBeUndefined();
  expect(isEnded()).toBe(true);
});

test('only so many wait: the oldest makes room, and is gone before its agent goes on', async () => {
  const warm = pool();
  const all = ['main', 'b', 'c'].map((agent) => ({ agent, ...waiting() }));
  for (const { agent, process } of all) warm.keep(agent, process);
  expect(await warm.take(step)).toBeUndefined();
  expect(all.map(({ isEnded }) => isEnded())).toEqual([true, false, false]);
  await warm.close();
  expect(all.every(({ isEnded }) => isEnded())).toBe(true);
});

test('none waits for ever', async () => {
  const warm = new WarmProcesses(2, 1);
  const { process, isEnded } = waiting();
  warm.keep('main', process);
  await vi.waitFor(() => expect(isEnded()).toBe(true));
});

test('is told only what has changed', () => {
  const { process } = waiting();
  let ids = 0;
  const lines = (want: Partial<PromptStep>) =>
    adjustments(process, { ...step, ...want }, () => `id${++ids}`).map(
      (line) => JSON.parse(line).request,
    );
  expect(lines({})).toEqual([]);
  expect(lines({ model: 'haiku', effort: 'low', permissionMode: 'plan' })).toMatchObject([
    { subtype: 'set_model', model: 'haiku' },
    { subtype: 'apply_flag_settings', settings: { effortLevel: 'low' } },
    { subtype: 'set_permission_mode', mode: 'plan' },
  ]);
  expect(lines({ model: 'haiku', effort: 'low', permissionMode: 'plan' })).toEqual([]);
});
