// A run of `raymond serve` whose real agent waits for a permission, and processes that are killed
// meanwhile.
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import * as z from 'zod/mini';
import { identify } from '../../src/execute/process/index.ts';
import { type Served, startServe } from '../browser/served-page.ts';
import type { Age } from './claude-sandbox.ts';
import {
  bash,
  eventsOf,
  type RaymondSandbox,
  type RaymondWorld,
  until,
} from './raymond-sandbox.ts';

export const VICTIMS = ['raymond', 'serve', 'both'] as const;
export const WORDS = ['allow', 'deny'] as const;
/** How a person decides, and continues the run. */
export const WAYS = ['api', 'command'] as const;

export interface Kill {
  readonly victim: (typeof VICTIMS)[number];
  readonly word: (typeof WORDS)[number];
  readonly way: (typeof WAYS)[number];
}

/** Needs a permission, and leaves a line for each time that it happens. */
export const call = (file: string) => bash(`mkdir -p out && curl --version >>${file}`);

export function timesOf({ file }: Pick<RaymondSandbox, 'file'>, name: string): number {
  const text = existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '';
  return text.match(/^curl /gm)?.length ?? 0;
}

/** The agent processes that still exist. */
export const living = ({ processes }: Pick<RaymondSandbox, 'processes'>) =>
  processes().filter((pid) => identify(pid));

export const askedIn = ({ journal }: Pick<RaymondSandbox, 'journal'>) =>
  eventsOf(journal('r'), 'permission-asked');

/**
 * The agent makes one call after the other, all in one turn. Each time, the process is killed while
 * the request waits. Then a person decides, and continues the run.
 */
export async function playKills(
  sandbox: (world: RaymondWorld) => Promise<RaymondSandbox>,
  age: Age,
  kills: readonly Kill[],
): Promise<void> {
  const world = await sandbox({
    age,
    workflow: { 'START.md': 'Work.' },
    script: (request) => {
      const results = JSON.stringify(request.messages).split('"type":"tool_result"').length - 1;
      return results < kills.length ? call(`made-${results}`) : '<result>done</result>';
    },
  });
  const { run, start, file } = world;
  let served = await startServe((args) => start(...args));
  const options = { ask_permissions: true, wait: true };
  await post(served, '/api/runs', { workflow: 'workflow', id: 'r', ...options });
  for (const [index, { victim, word, way }] of kills.entries()) {
    await until(() => askedIn(world).length === index + 1);
    if (victim !== 'serve') await killRaymond(served);
    if (victim !== 'raymond') {
      await served.kill('SIGKILL');
      served = await startServe((args) => start(...args));
    }
    const text = word === 'deny' ? { message: `not ${index}` } : {};
    const { request } = askedIn(world)[index] ?? {};
    if (way === 'api') await post(served, PERMISSION, { request, decision: word, ...text });
    else expect(await run('answer', 'r', word, ...Object.values(text))).toMatchObject({ code: 0 });
    if (victim === 'serve') continue;
    expect(timesOf(world, `made-${index}`)).toBe(0);
    if (way === 'api') await post(served, '/api/runs/r/resume', { wait: true });
    else expect(await run('resume', 'r', '--detach', '--wait')).toMatchObject({ code: 0 });
  }
  const state = () => JSON.parse(readFileSync(file('.raymond/state/r.json'), 'utf8'));
  await until(() => state().status.outcome === 'completed');
  await until(() => living(world).length === 0);
  await served.kill('SIGTERM');
  expect(kills.map((_, index) => timesOf(world, `made-${index}`))).toEqual(
    kills.map(({ word }) => (word === 'allow' ? 1 : 0)),
  );
  const last = JSON.stringify(world.model.requests.at(-1)?.messages);
  kills.forEach(({ word }, index) => {
    if (word === 'deny') expect(last).toContain(`not ${index}`);
  });
  // The turn was adopted each time, and never repeated.
  expect(world.model.requests).toHaveLength(kills.length + 1);
}

const PERMISSION = '/api/runs/r/permission';

/** The process of the run is no child of the test. */
async function killRaymond(served: Served): Promise<void> {
  const { pid } = z.parse(z.object({ pid: z.int() }), await get(served, '/api/runs/r'));
  process.kill(pid, 'SIGKILL');
  await until(() => !identify(pid));
}

const get = (served: Served, path: string) => ask(served, path);

const post = (served: Served, path: string, body: object) =>
  ask(served, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function ask({ address }: Served, path: string, init: RequestInit = {}): Promise<unknown> {
  const { origin, hash } = new URL(address);
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? '';
  const headers = { ...init.headers, authorization: `Bearer ${token}`, origin };
  const response = await fetch(origin + path, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}
