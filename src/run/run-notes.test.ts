import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import type { GivenNotes, RunningStatus } from '../model/run.ts';
import { RunNotes } from './run-notes.ts';

const sha256 = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');

interface Options {
  readonly seen?: Readonly<Record<string, string>>;
  readonly may?: GivenNotes['may'];
  readonly secrets?: readonly string[];
  readonly isWhole?: boolean;
}

/** What becomes of the files in the folder at the end of a step that this process has adopted. */
function after(files: Record<string, string> | undefined, options: Options = {}) {
  const { seen = {}, may = 'write', secrets, isWhole = true } = options;
  const warnings: string[] = [];
  const found = Object.entries(files ?? {}).map(
    ([path, text]) => [path, Buffer.from(text, 'latin1')] as const,
  );
  const notes = new RunNotes({
    folders: {
      step: () => '/step',
      hasBegun: () => true,
      task: () => '/task',
      put: () => {},
      notes: {
        put: () => {
          throw new Error('A step that has begun has its notes.');
        },
        read: () => files && { files: new Map(found), refused: new Map(), isWhole },
        remove: () => {},
        digest: (content) => sha256(Buffer.from(content).toString('latin1')),
      },
    },
    executors: {
      prompt: new Map(),
      script: { name: 'script', start: never, adopt: never, close: async () => {} },
      secrets: {
        ready: async () => undefined,
        clean: (names, bytes) =>
          names.includes('KNOWN')
            ? Buffer.from(Buffer.from(bytes).toString().replaceAll('hunter2', '[secret KNOWN]'))
            : undefined,
      },
    },
  });
  const given = Object.entries(seen).map(([path, text]) => [path, sha256(text)] as const);
  const status: RunningStatus = {
    ...{ kind: 'running', task: { kind: 'state' }, step: 1, startedAt: 0, isQueued: false },
    ...{ session: undefined, reservedUsd: undefined, executor: 'script', worker: undefined },
    ...{ requests: [], decided: [], state: 'START.sh' as RunningStatus['state'] },
    notes: { may, seen: Object.fromEntries(given) },
    ...(secrets && { rights: { write: [], hide: [], network: 'all', secrets } }),
  };
  const lesson = { name: 'l.md', text: 'known', run: 'r', agent: 'main', step: 1 };
  const run = { ...newRun, lessons: [lesson] };
  notes.before(run, 'main', status, true);
  const { notes: changes } = notes.after(run, 'main', status, (text) => warnings.push(text));
  const texts = Object.entries(changes ?? {}).map(
    ([path, change]) => [path, change?.text ?? null] as const,
  );
  return { changes: changes && Object.fromEntries(texts), warnings };
}

const never = () => {
  throw new Error('No step is started.');
};

test('only what the step has changed counts, whatever others have written meanwhile', () => {
  const seen = { 'same.md': 'same', 'gone.md': 'gone', 'edited.md': 'old' };
  expect(after({ 'same.md': 'same', 'edited.md': 'new', 'more.md': 'more' }, { seen })).toEqual({
    changes: { 'gone.md': null, 'edited.md': 'new', 'more.md': 'more' },
    warnings: [],
  });
  expect(after(seen, { seen }).changes).toBeUndefined();
});

test('of two names that some disks cannot tell apart, one is kept', () => {
  const files = { 'A.md': 'one', 'a.md': 'two' };
  expect(after(files, { seen: { 'a.md': 'two' } })).toEqual({
    warnings: ['Not kept as notes: A.md: its name differs from a.md only in the case of letters'],
  });
  expect(after(files).changes).toEqual({ 'a.md': 'two' });
});

test('a step that may only read changes nothing', () => {
  expect(after({ 'a.md': 'x' }, { may: 'read', seen: { 'b.md': 'y' } })).toEqual({ warnings: [] });
});

test('a folder that is gone, or has too many files, removes no notes', () => {
  const seen = { 'a.md': 'x' };
  expect(after(undefined, { seen })).toEqual({
    warnings: ['The folder of notes is gone, so nothing of it was kept.'],
  });
  const most = after({ 'b.md': 'b' }, { seen, isWhole: false });
  expect(most.changes).toEqual({ 'b.md': 'b' });
  expect(most.warnings).toEqual(['Not kept as notes: the rest: the folder has too many entries']);
});

test('a secret of the step is removed, or the note is not kept', () => {
  const files = { 'a.md': 'the key is hunter2' };
  expect(after(files, { secrets: ['KNOWN'] }).changes).toEqual({
    'a.md': 'the key is [secret KNOWN]',
  });
  expect(after(files, { secrets: ['LOST'], seen: { 'a.md': 'old' } })).toEqual({
    warnings: ['Not kept as notes: a.md: its secrets cannot be removed'],
  });
});

test('bytes that are no text are refused, and a lesson that is as it was is no proposal', () => {
  const files = { 'a.md': '\xff', 'lessons/l.md': 'known', 'lessons/new.md': 'new' };
  const { changes, warnings } = after(files);
  expect(changes).toEqual({ 'lessons/new.md': 'new' });
  expect(warnings).toEqual(['Not kept as notes: a.md: it is not UTF-8']);
});
