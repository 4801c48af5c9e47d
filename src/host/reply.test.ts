import { expect, onTestFinished, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { MemoryRuns, memoryStore } from '../../test/memory-store.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { reply } from './reply.ts';

/** A run whose question has been settled before `reply` looks at it, with words for its agent in between. */
async function settledWith(text: string) {
  const stage = makeRun({ START: [], N: [] });
  stage.turn('<ask next="N">Which?</ask>');
  const { status } = stage.agent();
  const at = stage.now;
  stage.handle({ kind: 'person-said', at, agent: 'main', words: 'w', text: 'be quick' });
  const askedAt = status.kind === 'asking' ? status.askedAt : 0;
  stage.handle({ kind: 'person-answered', at, agent: 'main', askedAt, text });
  expect(stage.agent().status.kind).toBe('ready');
  const store = memoryStore({
    apply: (run, event) => apply(run ?? newRun, event),
    sealedText: ({ id }) => id,
    self: { pid: 1, started: '1', boot: '1', name: 'process 1', isHere: true },
    runs: new MemoryRuns(),
  });
  const { id } = stage.run;
  const lease = await store.lease(id);
  onTestFinished(() => lease.release());
  await lease.create(stage.events, stage.run);
  return { store, id, answer: { kind: 'answer', agent: 'main', askedAt, text: 'left' } } as const;
}

test('an answer counts although words for its agent came first', async () => {
  const { store, id, answer } = await settledWith('left');
  await reply(store, id, answer);
});

test('an answer after another one is not used, and its author is told', async () => {
  const { store, id, answer } = await settledWith('right');
  await expect(reply(store, id, answer)).rejects.toMatchObject({ code: 'question-settled' });
});
