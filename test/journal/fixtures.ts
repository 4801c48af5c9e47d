import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { throwawayChain } from '../../src/journal/chain.ts';
import { type Disk, realDisk } from '../../src/journal/disk.ts';
import {
  adoptJournal,
  createJournal,
  type FileJournal,
  type Ownership,
  openJournal,
  type RunCodec,
} from '../../src/journal/file-journal.ts';
import type { ChainKey } from '../../src/journal/heads.ts';
import { encodeEvents } from '../../src/journal/journal-format.ts';
import { readEvents } from '../../src/journal/read-journal.ts';
import { JOURNAL_VERSION, type RunEvent, type RunEventOf } from '../../src/model/event.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'raymond-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const started: RunEventOf<'run-started'> = {
  type: 'run-started',
  version: JOURNAL_VERSION,
  at: 1,
  run: 'demo-00000001',
  workflow: '/flows/demo',
  state: stateNameSchema.parse('START.md'),
  cwd: '/project',
  settings: {
    budgetUsd: 10,
    maxIterations: 0,
    // Here an upgrade of version 1 puts it, so the bytes are the same.
    agent: { permissionMode: 'acceptEdits', skipPermissions: false },
    idleTimeoutMs: 600_000,
    maxParallelPrompts: 8,
    maxParallelScripts: 8,
    failFast: false,
    wait: true,
    warm: true,
  },
  metadata: {},
};

export function woke(at: number, agent = 'main'): RunEvent {
  return { type: 'agent-woke', at, agent };
}

export function ended(at: number, result: string): RunEvent {
  return { type: 'agent-ended', at, agent: 'main', result };
}

/**
 * A run for tests: the number of its events, and a value that depends on all events and their
 * order.
 */
export interface Seen {
  readonly count: number;
  readonly mix: number;
}

export const seen: RunCodec<Seen> = {
  apply: (run, event) => ({
    count: (run?.count ?? 0) + 1,
    mix: ((run?.mix ?? 7) * 31 + event.at) % 1_000_000_007,
  }),
  freeze: (run) => ({ ...run }),
  thaw(json) {
    if (json && typeof json === 'object' && 'count' in json && 'mix' in json) {
      return { count: Number(json.count), mix: Number(json.mix) };
    }
    throw new Error('not a run');
  },
};

export function foldAll(events: readonly RunEvent[]): Seen {
  return events.reduce<Seen | undefined>(seen.apply, undefined) ?? { count: 0, mix: 0 };
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function newJournalPath(): Promise<string> {
  return join(await temporaryFolder(), 'demo-00000001.jsonl');
}

/** In a test, no other process competes for the journal. */
export const alone: Ownership = {
  confirm: async () => {},
  loss: async () => undefined,
  needsConfirming: () => false,
  silent: undefined,
};

/** The key of the user in tests. It remembers the ends of journals beside the journal. */
export function keyBeside(path: string, key = Buffer.alloc(32, 7)): ChainKey {
  const derived = async () => key;
  return { derived, derivedIfKnown: derived, heads: join(dirname(path), 'heads') };
}

/** Like `createJournal`; closed after the test. */
export async function create<R>(disk: Disk, path: string, codec: RunCodec<R>, owner = alone) {
  const journal = await createJournal(disk, path, codec, owner, keyBeside(path));
  onTestFinished(() => journal.close());
  return journal;
}

/** Like `continued`; closed after the test. */
export async function open<R>(disk: Disk, path: string, codec: RunCodec<R>, owner = alone) {
  const opened = await continued(disk, path, codec, owner);
  onTestFinished(() => opened.journal.close());
  return opened;
}

/** Opens a journal, and accepts one that is not the user's own. */
export async function continued<R>(
  disk: Disk,
  path: string,
  codec: RunCodec<R>,
  owner = alone,
): Promise<{ readonly run: R; readonly journal: FileJournal<R> }> {
  const key = keyBeside(path);
  const found = await openJournal(disk, path, codec, owner, key);
  if ('journal' in found) return found;
  const journal = await adoptJournal(disk, path, codec, owner, key, found.digest);
  return { run: found.run, journal };
}

/** Lines of somebody else, from a number on. */
export function linesOf(events: readonly RunEvent[], firstSeq: number): Buffer {
  return encodeEvents(events, firstSeq, throwawayChain());
}

/** The bytes of a journal of somebody else after these appends. */
export function journalOf(...appends: readonly (readonly RunEvent[])[]): Buffer {
  const chain = throwawayChain();
  let seq = 1;
  const parts = appends.map((events) => {
    const bytes = encodeEvents(events, seq, chain);
    seq += events.length;
    return bytes;
  });
  return Buffer.concat(parts);
}

/** Writes a journal of the user. */
export async function writeOwn(
  path: string,
  ...appends: readonly (readonly RunEvent[])[]
): Promise<void> {
  const journal = await createJournal(realDisk, path, seen, alone, keyBeside(path));
  for (const events of appends) await journal.append(events, nothing);
  await journal.close();
}

/** Lines without what differs between two chains. */
export function unproven(bytes: Buffer | undefined): string {
  const text = bytes?.toString() ?? '';
  return text
    .replace(/"chain":"[0-9a-f]{32}",/, '')
    .replaceAll(/,"mac":"[^"]{22}","crc":"[0-9a-f]{8}"/g, '');
}

/** The same journal as the first release wrote it. */
export function versionOne(...appends: readonly (readonly RunEvent[])[]): string {
  const lines = appends.flatMap((events) =>
    events.map((event, index) => {
      const version = event.type === 'run-started' ? versionOneStart(event) : {};
      const more = index < events.length - 1 ? { more: true } : {};
      return `${JSON.stringify({ ...event, ...version, ...more })}\n`;
    }),
  );
  return lines.join('');
}

/** In version 1, the choices for the agent were among the other settings. */
function versionOneStart({ settings: { agent, ...others } }: RunEventOf<'run-started'>) {
  return { version: 1, settings: { ...others, ...agent } };
}

/** The appended events. Their numbers must count from 1. */
export async function eventsOf(path: string): Promise<RunEvent[]> {
  const events = await collected(readEvents(realDisk, path));
  return events.map(({ seq, ...event }, index) => {
    expect(seq).toBe(index + 1);
    return event;
  });
}

/** For tests in which the run of the events does not matter. */
export const nothing: Seen = { count: 0, mix: 0 };
