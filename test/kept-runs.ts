/** Runs of scripts as their files would be, without the time to run them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apply } from '../src/interpret/apply.ts';
import { newRun } from '../src/interpret/new-run.ts';
import { freeze } from '../src/journal/freeze-run.ts';
import { encodeEvents, encodeSnapshot } from '../src/journal/journal-format.ts';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../src/model/event.ts';

/** An hour of yesterday. */
const BEGIN = Date.now() - 86_400_000;
const END = BEGIN + 3_600_000;

/** Writes completed runs of a few steps, with the ids `kept-0`, `kept-1`, … */
export function writeKeptRuns(project: string, runs: number, steps = 3): void {
  for (let n = 0; n < runs; n++) {
    const id = `kept-${n}`;
    const end: RunEvent[] = [
      { type: 'agent-ended', at: END, agent: 'main', result: 'done' },
      { type: 'run-ended', at: END, outcome: 'completed' },
    ];
    writeJournal(project, id, [...history(project, id, steps), ...end]);
  }
}

/** Writes a run that was interrupted after so many events. A run has a snapshot in each megabyte. */
export function writeLongRun(
  project: string,
  id: string,
  events: number,
  bytesBetweenSnapshots = Number.POSITIVE_INFINITY,
): void {
  const steps = Math.floor((events - 2) / 3);
  const end: RunEvent = { type: 'run-ended', at: END, outcome: 'interrupted' };
  writeJournal(project, id, [...history(project, id, steps), end], bytesBetweenSnapshots);
}

/** Writes a completed run of many agents, with about so many events. */
export function writeCrowdedRun(project: string, id: string, events: number, agents: number): void {
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
  writeJournal(project, id, all, 1024 * 1024);
}

function writeJournal(
  project: string,
  id: string,
  events: readonly RunEvent[],
  bytesBetweenSnapshots = Number.POSITIVE_INFINITY,
): void {
  const folder = join(project, '.raymond', 'state');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines: Buffer[] = [];
  let [run, length, snapshotEnd] = [newRun, 0, 0];
  const add = (bytes: Buffer) => {
    lines.push(bytes);
    length += bytes.length;
  };
  for (const append of appends(events)) {
    add(encodeEvents(append, run.seq + 1));
    run = append.reduce(apply, run);
    if (length - snapshotEnd <= bytesBetweenSnapshots) continue;
    writeFileSync(join(folder, `${id}.snapshot`), `${length}\n`, { mode: 0o600 });
    add(encodeSnapshot(freeze(run), run.seq) ?? Buffer.alloc(0));
    snapshotEnd = length;
  }
  writeFileSync(join(folder, `${id}.jsonl`), Buffer.concat(lines), { mode: 0o600 });
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
