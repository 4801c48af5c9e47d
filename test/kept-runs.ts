/** Runs of scripts as their files would be, without the time to run them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apply } from '../src/interpret/apply.ts';
import { newRun } from '../src/interpret/new-run.ts';
import { Authenticator, Chain, newChainId, throwawayChain } from '../src/journal/chain.ts';
import { realDisk } from '../src/journal/disk.ts';
import { freeze } from '../src/journal/freeze-run.ts';
import { slotOf } from '../src/journal/heads.ts';
import { draftSnapshot, encodeDrafts, encodeEvents } from '../src/journal/journal-format.ts';
import { userKey } from '../src/journal/user-key.ts';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../src/model/event.ts';

/** An hour of yesterday. */
const BEGIN = Date.now() - 86_400_000;
const END = BEGIN + 3_600_000;

/** The user whose runs they are. Without one, they are runs of a stranger. */
export interface Owner {
  readonly authenticator: Authenticator;
  readonly heads: string;
}

/** The user with this XDG_STATE_HOME. */
export async function ownerIn(stateHome: string): Promise<Owner> {
  const key = userKey(realDisk, join(stateHome, 'raymond', 'key'));
  return { authenticator: new Authenticator(await key.derived('journal')), heads: key.heads };
}

/** Writes completed runs of a few steps, with the ids `kept-0`, `kept-1`, … */
export function writeKeptRuns(project: string, runs: number, steps = 3, owner?: Owner): void {
  for (let n = 0; n < runs; n++) {
    const id = `kept-${n}`;
    const end: RunEvent[] = [
      { type: 'agent-ended', at: END, agent: 'main', result: 'done' },
      { type: 'run-ended', at: END, outcome: 'completed' },
    ];
    writeJournal(project, id, [...history(project, id, steps), ...end], undefined, owner);
  }
}

/** Writes completed runs of one workflow, each with an input and a result of its own. */
export function writeTriagedRuns(project: string, workflow: string, runs: number): void {
  for (let n = 0; n < runs; n++) {
    const id = `triage-${(4096 + n * 7).toString(16)}`;
    const all = history(project, id, 1).map(
      (event): RunEvent =>
        event.type === 'run-started'
          ? { ...event, workflow, input: `Issue ${n}: export drops row ${n}` }
          : event,
    );
    const end: RunEvent[] = [
      { type: 'agent-ended', at: END, agent: 'main', result: `Assigned to team-${n}` },
      { type: 'run-ended', at: END, outcome: 'completed' },
    ];
    writeJournal(project, id, [...all, ...end], undefined);
  }
}

/** Writes a run that was interrupted after this many events. A run has a snapshot in each megabyte. */
export function writeLongRun(
  project: string,
  id: string,
  events: number,
  bytesBetweenSnapshots = Number.POSITIVE_INFINITY,
  owner?: Owner,
): void {
  const steps = Math.floor((events - 2) / 3);
  const end: RunEvent = { type: 'run-ended', at: END, outcome: 'interrupted' };
  writeJournal(project, id, [...history(project, id, steps), end], bytesBetweenSnapshots, owner);
}

/** Writes a completed run of many agents, with about this many events. */
export function writeCrowdedRun(
  project: string,
  id: string,
  events: number,
  agents: number,
  owner?: Owner,
): void {
  const steps = Math.floor((events - 2 * agents) / 3 / agents);
  const names = ['main', ...Array.from({ length: agents - 1 }, (_, n) => `main_${n + 1}`)];
  const [first, ...loop] = history(project, id, steps);
  const place = { state: 'START.sh', workflow: project, cwd: project };
  const forks = names.slice(1).map((agent, n) =>
    runEventSchema.parse({
      ...{ type: 'agent-forked', at: BEGIN, agent, parent: 'main', counter: n + 1 },
      ...place,
      variables: { part: `${n}` },
    }),
  );
  // One step of each agent after the other.
  const works = Array.from({ length: steps }, (_, n) => loop.slice(3 * n, 3 * n + 3)).flatMap(
    (step) =>
      names.flatMap((agent) => step.map((event): RunEvent => ({ ...event, agent }) as RunEvent)),
  );
  const ends = names.map(
    (agent): RunEvent => ({ type: 'agent-ended', at: END, agent, result: 'done' }),
  );
  const end: RunEvent = { type: 'run-ended', at: END, outcome: 'completed' };
  const all = first ? [first, ...forks, ...works, ...ends, end] : [];
  writeJournal(project, id, all, 1024 * 1024, owner);
}

export interface BusyRun {
  readonly agents: number;
  readonly events: number;
  /** The states that the children go through, in this order. */
  readonly states: readonly string[];
  /** The folder of the workflow. */
  readonly workflow: string;
}

/**
 * Writes an interrupted run with many agents. The first children have failed, the next ones ask, half of
 * the others have ended.
 */
export function writeBusyRun(project: string, id: string, busy: BusyRun, owner?: Owner): void {
  writeJournal(project, id, busyHistory(project, id, busy), 1_000_000, owner);
}

function busyHistory(project: string, run: string, busy: BusyRun): readonly RunEvent[] {
  const { agents, states, workflow } = busy;
  const rounds = Math.max(1, Math.floor((busy.events - agents) / 3 / (agents - 1)));
  const pace = 3_600_000 / (rounds * agents);
  let now = BEGIN;
  const tick = () => {
    now += pace;
    return Math.floor(now);
  };
  const place = (state: string) => ({ state, workflow, cwd: project });
  const stateAt = (n: number) => states[n % states.length] ?? '';
  const settings = { ...newRun.settings, budgetUsd: 60 };
  const session = { kind: 'none' };
  const cost = (n: number) => ({ usd: (n % 7) * 0.0004, from: 'told' });
  const children = Array.from({ length: agents - 1 }, (_, n) => `main_worker${n + 1}`);
  const failure = {
    kind: 'script-failed',
    message: 'The script exited with code 2: 3 tests fail.',
  };
  const events: object[] = [
    { type: 'run-started', version: JOURNAL_VERSION, at: BEGIN, run, settings, metadata: {} },
  ].map((event) => ({ ...event, ...place(stateAt(0)) }));
  children.forEach((agent, n) => {
    const more = { agent, parent: 'main', counter: n + 1, variables: { issue: `#${400 + n}` } };
    events.push({ type: 'agent-forked', at: tick(), ...more, ...place(stateAt(n)) });
  });
  for (let round = 0; round < rounds; round += 1) {
    for (const [n, agent] of children.entries()) {
      const [state, step] = [stateAt(n + round), round + 1];
      events.push({
        type: 'step-started',
        at: tick(),
        agent,
        step,
        attempt: 1,
        state,
        task: 'state',
      });
      const isLast = round === rounds - 1;
      const by = { at: Math.floor(now + pace / 2), agent };
      const account = { step, cost: cost(n + round) };
      if (isLast && n < 3) {
        events.push({ type: 'step-failed', ...by, ...account, failure });
        events.push({ type: 'agent-failed', ...by, failure });
        continue;
      }
      events.push({ type: 'step-ended', ...by, ...account, denied: [] });
      const next = stateAt(n + round + 1);
      if (isLast && n < 5) {
        const question = `Issue #${400 + n} can be fixed in two ways. Which one do you prefer?`;
        events.push({ type: 'agent-asked', ...by, question, next });
      } else if (isLast && n % 2 === 0)
        events.push({ type: 'agent-ended', ...by, result: `Fixed #${400 + n}, and added a test.` });
      else {
        const stack = { kind: 'keep' };
        events.push({ type: 'agent-moved', ...by, tag: 'goto', ...place(next), session, stack });
      }
    }
  }
  events.push({ type: 'run-ended', at: tick(), outcome: 'interrupted' });
  return events.map((event) => runEventSchema.parse(event));
}

function writeJournal(
  project: string,
  id: string,
  events: readonly RunEvent[],
  bytesBetweenSnapshots = Number.POSITIVE_INFINITY,
  owner?: Owner,
): void {
  const folder = join(project, '.raymond', 'state');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const chain = owner ? new Chain(newChainId(), owner.authenticator) : throwawayChain();
  const lines: Buffer[] = [];
  let [run, length, snapshotEnd] = [newRun, 0, 0];
  const add = (bytes: Buffer) => {
    lines.push(bytes);
    length += bytes.length;
  };
  for (const append of appends(events)) {
    add(encodeEvents(append, run.seq + 1, chain));
    run = append.reduce(apply, run);
    if (length - snapshotEnd <= bytesBetweenSnapshots) continue;
    writeFileSync(join(folder, `${id}.snapshot`), `${length}\n`, { mode: 0o600 });
    const draft = draftSnapshot(freeze(run), run.seq);
    if (draft) add(encodeDrafts([draft], chain));
    snapshotEnd = length;
  }
  const journal = join(folder, `${id}.jsonl`);
  writeFileSync(journal, Buffer.concat(lines), { mode: 0o600 });
  if (!owner) return;
  mkdirSync(owner.heads, { recursive: true, mode: 0o700 });
  const end = slotOf({ seq: run.seq, mac: chain.end });
  const head = `${end}${end}${JSON.stringify(journal)}\n`;
  writeFileSync(join(owner.heads, chain.id), head, { mode: 0o600 });
}

/** A run appends what follows from the end of a step together, up to the start of the next step. */
function appends(events: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const all: RunEvent[][] = [[]];
  for (const event of events) {
    all.at(-1)?.push(event);
    if (event.type === 'step-started') all.push([]);
  }
  return all;
}

function history(project: string, run: string, steps: number): readonly RunEvent[] {
  const place = { state: 'START.sh', workflow: project, cwd: project };
  const { settings } = newRun;
  const start = { type: 'run-started', version: JOURNAL_VERSION, at: BEGIN, run, settings };
  const loop = Array.from({ length: steps }, (_, index) => {
    const [at, step] = [BEGIN + index, index + 1];
    const byAgent = { at, agent: 'main' };
    const answer = { bytes: 15, sha256: 'a'.repeat(64) };
    const cost = { usd: 0, from: 'told' };
    const [session, stack] = [{ kind: 'none' }, { kind: 'keep' }];
    return [
      { type: 'step-started', ...byAgent, step, attempt: 1, state: 'START.sh', task: 'state' },
      { type: 'step-ended', ...byAgent, step, cost, answer, denied: [] },
      { type: 'agent-moved', ...byAgent, tag: 'reset', ...place, session, stack },
    ];
  });
  const all = [{ ...start, ...place, metadata: {} }, ...loop.flat()];
  return all.map((event) => runEventSchema.parse(event));
}
