// Tests the arguments and the message reader of src/execute/claude with two real versions.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { claudeArguments, type Turn, userMessage } from '../../src/execute/claude/command.ts';
import { type Happening, messageReader } from '../../src/execute/claude/messages.ts';
import { type TurnOutcome, turnRecord } from '../../src/execute/claude/outcome.ts';
import { alreadyCounted } from '../../src/execute/claude/price.ts';
import { readTranscript } from '../../src/execute/claude/transcript.ts';
import {
  type Age,
  type ClaudeSandbox,
  claudeSandbox,
  runClaude,
  suiteAges,
} from './claude-sandbox.ts';
import { history } from './model-request.ts';
import {
  closedPort,
  faults,
  type Script,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function world(script: Script, environment: Readonly<Record<string, string>> = {}) {
  const model = await scriptedModel(script);
  cleanups.push(() => model.close());
  const sandbox = await claudeSandbox(model.url, environment);
  cleanups.push(() => sandbox.remove());
  return { model, sandbox };
}

describe.each(suiteAges)('the %s version', (age) => {
  it('continues, branches and forgets sessions as requested, and reports the cost of each turn', async () => {
    const price = { input_tokens: 10_000, output_tokens: 1_000 };
    const { model, sandbox } = await world((_, turn) => ({ content: `A${turn}`, usage: price }));
    const [main, branch, other] = [randomUUID(), randomUUID(), randomUUID()];

    const outcomes = [
      await play(age, sandbox, { use: 'fresh', id: main }, 'Q0'),
      await play(age, sandbox, { use: 'continue', id: main }, 'Q1'),
      await play(age, sandbox, { use: 'branch', from: main, id: branch }, 'Q2'),
      await play(age, sandbox, { use: 'continue', id: main }, 'Q3'),
      await play(age, sandbox, { use: 'continue', id: branch }, 'Q4'),
      await play(age, sandbox, { use: 'fresh', id: other }, 'Q5'),
    ].map(({ outcome }) => outcome);

    expect(outcomes).toMatchObject([0, 1, 2, 3, 4, 5].map((n) => ({ text: `A${n}` })));
    expect(seen(model)).toEqual([
      'Q0',
      'Q0 A0 Q1',
      'Q0 A0 Q1 A1 Q2',
      'Q0 A0 Q1 A1 Q3',
      'Q0 A0 Q1 A1 Q2 A2 Q4',
      'Q5',
    ]);
    const costs = outcomes.map(({ cost }) => cost.usd.toFixed(6));
    expect(new Set(costs)).toEqual(new Set([age === 'older' ? '0.075000' : '0.060000']));
  });

  it('does not interpret slashes and mentions of files', async () => {
    const { model, sandbox } = await world(['ok']);
    await writeFile(join(sandbox.work, 'secret.txt'), 'CONTENT OF THE FILE');
    const prompt = '/context is what I want to know about @secret.txt';
    await play(age, sandbox, { use: 'fresh', id: randomUUID() }, prompt);
    expect(seen(model)).toEqual([prompt]);
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain('CONTENT OF THE FILE');
  });

  it('does not see a failed prompt again when the history is cut off before it', async () => {
    const { model, sandbox } = await world(['A0', faults.internal, 'A2']);
    const id = randomUUID();
    const uuid = randomUUID();
    await play(age, sandbox, { use: 'fresh', id }, 'Q0');
    const { outcome } = await play(age, sandbox, { use: 'continue', id }, 'Q1', { uuid });
    expect(outcome).toMatchObject({ failure: { kind: 'overloaded' } });

    const { hasPrompt, cutAt } = readTranscript(await sandbox.transcript(id), [uuid]);
    expect(hasPrompt).toBe(true);
    await play(age, sandbox, { use: 'continue', id, ...(cutAt && { at: cutAt }) }, 'Q1');
    expect(seen(model).at(-1)).toBe('Q0 A0 Q1');
  });

  it('runs allowed tools and reports denied ones', async () => {
    const bash = (command: string) =>
      ({
        content: [{ type: 'tool_use', name: 'Bash', input: { command, description: 'a test' } }],
      }) as const;
    const { sandbox } = await world([bash('touch made'), bash('bash -c "touch forbidden"'), 'end']);
    const { outcome, happenings } = await play(
      age,
      sandbox,
      { use: 'fresh', id: randomUUID() },
      'Work.',
    );
    expect(happenings).toContainEqual(
      expect.objectContaining({ kind: 'tool-use', name: 'Bash', summary: 'touch made' }),
    );
    expect(outcome).toMatchObject({
      text: 'end',
      denied: [{ tool: 'Bash', summary: 'bash -c "touch forbidden"' }],
    });
    expect(existsSync(join(sandbox.work, 'made'))).toBe(true);
    expect(existsSync(join(sandbox.work, 'forbidden'))).toBe(false);
  });

  it('passes on model and effort', async () => {
    const { model, sandbox } = await world(['ok']);
    const session = { use: 'fresh', id: randomUUID() } as const;
    await play(age, sandbox, session, 'Q', { model: 'claude-opus-4-5', effort: 'low' });
    expect(model.requests[0]).toMatchObject({ model: 'claude-opus-4-5', effort: 'low' });
    expect(model.requests[0]?.tools).not.toContain('Workflow');
    expect(model.requests[0]?.tools).not.toContain('CronCreate');
  });

  it('stops at the budget, but an answer that exceeds it still counts', async () => {
    const usage = { input_tokens: 100_000 };
    const { sandbox } = await world([{ content: 'dear', usage }]);
    const session = { use: 'fresh', id: randomUUID() } as const;
    const { outcome } = await play(age, sandbox, session, 'Q', { budgetUsd: 0.01 });
    expect(outcome).toMatchObject({ kind: 'answered', text: 'dear' });
    expect(outcome.cost.usd).toBeGreaterThan(0.1);
  });
});

describe.each(suiteAges)('the %s version', (age) => {
  // test/real-agent/api-faults.test.ts plays the others with Raymond: those that pass, and a usage limit.
  it.each([
    ['not-logged-in', faults.forbidden, {}],
    ['refused', faults.tooLong, {}],
    ['unknown-model', faults.unknownModel, {}],
    ['connection-lost', faults.dropped, {}],
    ['connection-lost', faults.malformed, {}],
    ['connection-lost', faults.reset, { ANTHROPIC_BASE_URL: closedPort }],
  ])('reports the failure %s', async (kind, fault, environment) => {
    const { sandbox } = await world([fault], environment);
    const { outcome } = await play(age, sandbox, { use: 'fresh', id: randomUUID() }, 'Q');
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
  });
});

async function play(
  age: Age,
  sandbox: ClaudeSandbox,
  session: Turn['session'],
  text: string,
  more: Partial<Turn> & { readonly uuid?: string } = {},
): Promise<{ outcome: TurnOutcome; happenings: Happening[] }> {
  const { uuid = randomUUID(), ...turn } = more;
  const costBefore = await costOf(sandbox, session);
  const args = claudeArguments({ session, permission: { mode: 'acceptEdits' }, ...turn });
  const ended = await runClaude(age, sandbox, args, userMessage(text, uuid));
  const happenings = [...messageReader()(`${ended.stdout}\n`)];
  const record = turnRecord();
  for (const happening of happenings) record.add(happening);
  const version = happenings.find(({ kind }) => kind === 'init');
  const outcome = record.outcome({
    now: Date.now(),
    exit: ended.exit,
    stderrTail: ended.stderr,
    countedUsd: alreadyCounted({
      version: version?.kind === 'init' ? version.version : '',
      ...(costBefore !== undefined && { transcriptTotalUsd: costBefore }),
    }),
  });
  return { outcome, happenings };
}

function seen(model: ScriptedModel): string[] {
  return model.requests.map((request) =>
    history(request)
      .map(({ text }) => text)
      .join(' '),
  );
}

async function costOf(sandbox: ClaudeSandbox, session: Turn['session']) {
  if (session.use === 'fresh') return undefined;
  const id = session.use === 'branch' ? session.from : session.id;
  return readTranscript(await sandbox.transcript(id)).costUsd;
}
