// Checks how a run handles faults of the model's service.
import { describe, expect, test } from 'vitest';
import { inSuite, isLong } from '../long.ts';
import { type Age, suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  lastPrompt,
  sandboxes,
  until,
} from './raymond-sandbox.ts';
import { closedPort, type Fault, faults, type Reply, rateLimited } from './scripted-model.ts';

const sandbox = sandboxes();

const never = new Promise<void>(() => {});
const hasty = { CLAUDE_CODE_MAX_RETRIES: '0' };

/** Each is temporary, and needs one retry. Without a failure, Claude Code itself tries again. */
const passing: Readonly<Record<string, readonly [failure: string | undefined, Reply]>> = {
  LIMITED: ['overloaded', rateLimited()],
  'LIMITED FOR A SECOND': ['overloaded', rateLimited({ 'retry-after': '1' })],
  BROKEN: ['overloaded', faults.internal],
  OVERLOADED: ['overloaded', faults.overloaded],
  REFUSED: ['connection-lost', faults.reset],
  DROPPED: [undefined, faults.dropped],
  MALFORMED: [undefined, faults.malformed],
  STALLED: ['idle', { content: 'half of an answer', pause: never }],
};

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('a temporary fault is retried, and the model sees no prompt twice', async () => {
    const names = Object.keys(passing);
    const next = (index: number) =>
      index < names.length ? `<goto>${names[index]}</goto>` : '<result>through</result>';
    const { run, model, journal } = await sandbox({
      age,
      workflow: Object.fromEntries(
        ['START', ...names].map((name) => [
          `${name}.md`,
          `${name === 'STALLED' ? '---\ntimeout: 8\n---\n' : ''}It is ${name}.`,
        ]),
      ),
      script: answering({
        'It is START.': next(0),
        ...Object.fromEntries(
          Object.entries(passing).map(([name, [, fault]], i) => [
            `It is ${name}.`,
            [fault, next(i + 1)],
          ]),
        ),
      }),
      environment: hasty,
    });
    const { code, stdout } = await run('workflow', '--workflow-id', 'r');
    expect([code, stdout]).toEqual([0, 'through\n']);
    const prompts = ['START', ...names].map((name) => `user: It is ${name}.`);
    for (const request of model.requests) {
      const seen = conversationLines(request).filter((line) => line.startsWith('user: '));
      expect(seen).toEqual(prompts.slice(0, seen.length));
    }
    const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
    expect(failures).toEqual(Object.values(passing).flatMap(([failure]) => failure ?? []));
    expect(eventsOf(journal('r'), 'agent-waits')).toHaveLength(failures.length);
  });
});

if (isLong)
  test('the agent fails after three retries, and a resume continues where it was', async () => {
    let isWell = false;
    const { run, model } = await sandbox({
      age: 'newer',
      workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
      script: (request) => {
        if (lastPrompt(request) === 'Do one.') return '<goto>TWO</goto>';
        return isWell ? '<result>well</result>' : faults.overloaded;
      },
      environment: hasty,
    });
    const { code, stderr } = await run('workflow', '--workflow-id', 'r');
    expect(code).toBe(1);
    expect(stderr).toContain('TWO.md -> failed');
    expect(model.requests).toHaveLength(1 + 4);
    isWell = true;
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'well\n' });
    expect(conversationLines(model.requests.at(-1))).toEqual([
      'user: Do one.',
      'assistant: <goto>TWO</goto>',
      'user: Do two.',
    ]);
  });

if (isLong)
  test('a service that cannot be reached is tried four times', async () => {
    const { run, journal } = await sandbox({
      age: 'newer',
      workflow: { 'START.md': 'Do one.' },
      script: [],
      environment: { ...hasty, ANTHROPIC_BASE_URL: closedPort },
    });
    expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 1 });
    const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
    expect(failures).toEqual(Array(4).fill('connection-lost'));
  });

test.each(
  inSuite<[string, Age, Fault]>(
    [
      ['not-logged-in', 'newer', faults.unauthorized],
      ['no-credit', 'newer', faults.noCredit],
    ],
    [
      ['not-logged-in', 'older', faults.forbidden],
      ['unknown-model', 'newer', faults.unknownModel],
      ['refused', 'older', faults.tooLong],
    ],
  ),
)('%s fails without a retry (%s)', async (kind, age, fault) => {
  const { run, model, journal } = await sandbox({
    age,
    workflow: { 'START.md': 'Do one.' },
    script: [fault],
    environment: hasty,
  });
  const { code, stderr } = await run('workflow', '--workflow-id', 'r');
  expect(code).toBe(1);
  // For an unknown model, Claude Code itself retries once.
  expect(model.requests.length).toBeLessThanOrEqual(2);
  const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
  expect(failures).toEqual([kind]);
  expect(stderr).toContain('START.md -> failed');
});

describe('a usage limit', () => {
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const limited = rateLimited({
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(inAnHour),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-overage-status': 'rejected',
  });
  const subscription = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake' };
  const endsAt = new Date((inAnHour + 60) * 1000).toTimeString().slice(0, 8);
  const workflow = { 'START.md': 'Do one.', 'TWO.md': 'Do two.' };
  const script = answering({ 'Do one.': '<goto>TWO</goto>', 'Do two.': limited });
  const environment = { ...hasty, ...subscription };

  test.each(suiteAges)('makes the run wait, even after a crash (%s)', async (age) => {
    const { start, run, model, journal } = await sandbox({ age, workflow, script, environment });
    const first = start('workflow', '--workflow-id', 'r');
    await until(() => /prompts wait until .*/.exec(first.stderr())?.[0].includes(endsAt));
    await killHard(first.child);

    const second = start('resume', 'r');
    await until(() => eventsOf(journal('r'), 'run-resumed')[0]);
    const [list, show] = await Promise.all([run('list'), run('show', 'r')]);
    // After midnight, a date comes first, and the line is cut.
    expect(list.stdout).toMatch(/waiting .*until .*usage/);
    expect(list.stdout).toContain(endsAt);
    expect(show.stdout).toContain(endsAt);
    expect(await run('stop', 'r')).toMatchObject({ code: 0 });
    expect(await second.finished).toMatchObject({ code: 130 });
    expect(model.requests).toHaveLength(2);
    expect(eventsOf(journal('r'), 'agent-waits')).toEqual([]);
  });

  if (isLong)
    test('pauses the run with --no-wait, and again when it is resumed too early', async () => {
      const { run, model } = await sandbox({ age: 'newer', workflow, script, environment });
      const { code, stderr } = await run('workflow', '--no-wait', '--workflow-id', 'r');
      expect(code).toBe(2);
      expect(stderr).toContain(endsAt);
      expect(stderr).toContain('paused');
      expect(await run('resume', 'r')).toMatchObject({ code: 2 });
      expect(model.requests).toHaveLength(2);
    });

  test('is not detected in text that the agent reads or writes', async () => {
    const words = "You've hit your session limit · resets 8pm (America/New_York)";
    const { run, journal } = await sandbox({
      age: 'newer',
      workflow,
      script: [
        bash(`echo "Claude AI usage limit reached|${inAnHour}" "${words}"`),
        `${words} <result>read it</result>`,
      ],
    });
    expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({
      code: 0,
      stdout: 'read it\n',
    });
    expect(eventsOf(journal('r'), 'usage-limited')).toEqual([]);
  });
});
