import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { makeRun } from '../../test/make-run.ts';
import { patiently } from '../../test/patiently.ts';
import { realDisk } from '../journal/disk.ts';
import { fileMailbox, type MailFolder } from '../journal/file-mailbox.ts';
import { userKey } from '../journal/user-key.ts';
import type { Input } from '../model/input.ts';
import type { Message } from '../model/message.ts';
import type { Journal } from '../ports.ts';
import { inputFrom, isSettled } from '../run/mail.ts';
import { deliverMessages } from './deliver-messages.ts';

const PID = 77;
const STARTED = '12';

/** A run that asks, and its inbox. */
async function askingRun() {
  const stage = makeRun({ START: [], N: [] }, { settings: { budgetUsd: 0 } });
  stage.turn('<ask next="N">Which?</ask>');
  const { status } = stage.agent();
  const askedAt = status.kind === 'asking' ? status.askedAt : 0;
  const root = await temporaryFolder();
  const place: MailFolder = {
    disk: realDisk,
    folder: join(root, 'inbox'),
    run: stage.run.id,
    key: userKey(realDisk, join(root, 'key')),
  };
  const answer = (text: string): Message => ({ kind: 'answer', agent: 'main', askedAt, text });
  return { stage, place, answer };
}

async function opened(place: MailFolder, append: Journal['append'] = async () => {}) {
  const inputs: Input[] = [];
  const said: string[] = [];
  const look = () =>
    inputs.splice(
      0,
      inputs.length,
      ...delivery.waiting().flatMap((one) => inputFrom(one, 1) ?? []),
    );
  let wake = () => {};
  const delivery = await deliverMessages({
    mailbox: fileMailbox(place),
    pid: PID,
    started: STARTED,
    wake: () => wake(),
    report: (text) => said.push(text),
  });
  onTestFinished(() => delivery.close());
  wake = look;
  look();
  /** As a turn stores its events. */
  const journal: Journal = {
    async append(events, after) {
      const settled = delivery.waiting().filter((one) => isSettled(one, after));
      await append(events, after);
      await delivery.settle(settled, events);
    },
  };
  return { mailbox: { ...delivery, journal }, inputs, said };
}

const inboxOf = (place: MailFolder) => readdir(place.folder);

test('an answer is removed only after its event is on disk', async () => {
  const { stage, place, answer } = await askingRun();
  await fileMailbox(place).post(answer('blue'));
  const seen: number[] = [];
  const { mailbox, inputs } = await opened(place, async () => {
    seen.push((await inboxOf(place)).length);
  });
  expect(inputs).toMatchObject([{ kind: 'person-answered', text: 'blue' }]);
  const events = inputs.flatMap((input) => stage.handle(input));
  await mailbox.journal.append(events, stage.run);
  expect(seen).toEqual([1]);
  expect(await inboxOf(place)).toEqual([]);
});

test('an answer whose event cannot be written stays for the next process', async () => {
  const { stage, place, answer } = await askingRun();
  await fileMailbox(place).post(answer('blue'));
  const full = () => Promise.reject(new Error('disk full'));
  const { mailbox, inputs } = await opened(place, full);
  const events = inputs.flatMap((input) => stage.handle(input));
  await expect(mailbox.journal.append(events, stage.run)).rejects.toThrow('disk full');
  mailbox.close();
  expect((await opened(place)).inputs).toMatchObject([{ kind: 'person-answered', text: 'blue' }]);
});

test('the append of an earlier decision does not remove a later answer', async () => {
  const { stage, place, answer } = await askingRun();
  const { mailbox, inputs } = await opened(place);
  const asking = stage.run;
  await fileMailbox(place).post(answer('blue'));
  await patiently(() => expect(inputs).toHaveLength(1));
  // Another agent's step ended at the same time: its events were decided without the answer.
  await mailbox.journal.append([], asking);
  expect(await inboxOf(place)).toHaveLength(1);
  const events = inputs.flatMap((input) => stage.handle(input));
  await mailbox.journal.append(events, stage.run);
  expect(await inboxOf(place)).toEqual([]);
});

test('an answer that came too late is removed and reported', async () => {
  const { stage, place, answer } = await askingRun();
  const { mailbox, inputs, said } = await opened(place);
  await fileMailbox(place).post(answer('blue'));
  await patiently(() => expect(inputs).toHaveLength(1));
  const events = stage.handle({ ...answerInput(inputs), text: 'typed at the terminal' });
  await mailbox.journal.append(events, stage.run);
  expect(await inboxOf(place)).toEqual([]);
  expect(said).toEqual(['an answer to main came too late and was not used']);
});

test('an answer that a killed process used but did not remove is removed silently', async () => {
  const { stage, place, answer } = await askingRun();
  await fileMailbox(place).post(answer('blue'));
  const { mailbox, inputs, said } = await opened(place);
  stage.handle(answerInput(inputs));
  await mailbox.journal.append(stage.stop('drain'), stage.run);
  expect(await inboxOf(place)).toEqual([]);
  expect(said).toEqual([]);
});

describe('a decision about a permission request', () => {
  async function requestingRun() {
    const world = await askingRun();
    const { stage } = world;
    stage.handle(answerInput([{ ...world.answer('x'), kind: 'person-answered', at: 1 } as Input]));
    stage.start();
    const { status } = stage.agent();
    const step = status.kind === 'running' ? status.step : 0;
    const request = { request: 'r1', tool: 'Bash', summary: 'x', input: 'command: x' };
    stage.handle({ kind: 'permission-requested', at: stage.now, agent: 'main', step, request });
    const decided = (decision: 'allow' | 'allow-run' | 'deny', by = 'ann'): Message => ({
      ...{ kind: 'permission', agent: 'main', step, request: 'r1', decision, by },
    });
    return { ...world, decided };
  }

  test('is removed when its event is on disk', async () => {
    const { stage, place, decided } = await requestingRun();
    await fileMailbox(place).post(decided('allow'));
    expect(await fileMailbox(place).post(decided('deny'))).toBe(false);
    const { mailbox, inputs, said } = await opened(place);
    await mailbox.journal.append([], stage.run);
    expect(await inboxOf(place)).toHaveLength(1);
    const events = inputs.flatMap((input) => stage.handle(input));
    expect(events).toMatchObject([{ type: 'permission-answered', decision: 'allow', by: 'ann' }]);
    await mailbox.journal.append(events, stage.run);
    expect(await inboxOf(place)).toEqual([]);
    expect(said).toEqual([]);
  });

  test('that came too late is removed and reported', async () => {
    const { stage, place, decided } = await requestingRun();
    const { mailbox, inputs, said } = await opened(place);
    await fileMailbox(place).post(decided('allow'));
    await patiently(() => expect(inputs).toHaveLength(1));
    const { agent, step } = { agent: 'main', step: 2 };
    const events = stage.handle({
      ...{
        kind: 'permission-decided',
        at: stage.now,
        agent,
        step,
        request: 'r1',
        decision: 'deny',
      },
    });
    await mailbox.journal.append(events, stage.run);
    expect(await inboxOf(place)).toEqual([]);
    expect(said).toEqual(['a decision on a request of main came too late and was not used']);
  });

  test('that the request does not offer is removed and changes nothing', async () => {
    const { stage, place, decided } = await requestingRun();
    await fileMailbox(place).post(decided('allow-run'));
    const { mailbox, inputs } = await opened(place);
    expect(inputs.flatMap((input) => stage.handle(input))).toEqual([]);
    await mailbox.journal.append([], stage.run);
    expect(await inboxOf(place)).toEqual([]);
    expect(stage.run.tally.asksPermission).toBe(1);
  });
});

test.each([
  ['this process', PID, STARTED, 'now', [{ kind: 'stop', how: 'now' }]],
  [
    'this process, after the running steps',
    PID,
    STARTED,
    'drain',
    [{ kind: 'stop', how: 'drain' }],
  ],
  ['a process before this one', PID + 1, STARTED, 'now', []],
  ['a process before this one with the same pid', PID, 'earlier', 'now', []],
  ['any process with the pid, in a letter of an earlier version', PID, undefined, 'now', []],
] as const)('a stop for %s', async (_, pid, started, how, expected) => {
  const { stage, place } = await askingRun();
  await fileMailbox(place).post({ kind: 'stop', how, pid, ...(started && { started }) });
  const { mailbox, inputs } = await opened(place);
  expect(inputs).toMatchObject(expected);
  const events = inputs.flatMap((input) => stage.handle(input));
  await mailbox.journal.append(events, stage.run);
  expect(await inboxOf(place)).toEqual([]);
});

test('a more urgent stop is not removed with the first one', async () => {
  const { stage, place } = await askingRun();
  const { mailbox, inputs } = await opened(place);
  await fileMailbox(place).post({ kind: 'stop', how: 'now', pid: PID, started: STARTED });
  await patiently(() => expect(inputs).toHaveLength(1));
  await mailbox.journal.append(stage.stop('drain'), stage.run);
  expect(await inboxOf(place)).toHaveLength(1);
});

test('a forged message is reported and ignored', async () => {
  const { place, answer } = await askingRun();
  await realDisk.mkdir(place.folder);
  await writeFile(join(place.folder, 'answer.json'), JSON.stringify(answer('yes')));
  const { inputs, said } = await opened(place);
  expect(inputs).toEqual([]);
  expect(said).toEqual([
    expect.stringContaining('ignored a message that none of your commands wrote'),
  ]);
});

function answerInput(inputs: readonly Input[]): Extract<Input, { kind: 'person-answered' }> {
  const [input] = inputs;
  if (input?.kind !== 'person-answered') throw new Error('There is no answer.');
  return input;
}
