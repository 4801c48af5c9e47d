// Whole runs of Raymond with the real codex: what it remembers, what it costs, and how its turns end.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import {
  COMPACTING,
  killedPlay,
  REWOUND_TO_BEGIN,
  rewoundPlay,
  SAYS,
  SEEN,
} from '../real-agent/compact-play.ts';
import {
  answering,
  eventsOf,
  killHard,
  raymondSandbox,
  until,
} from '../real-agent/raymond-sandbox.ts';
import { processesLeft } from '../survivors.ts';
import { codexSandbox } from './codex-sandbox.ts';
import type { Asked, Reply } from './scripted-api.ts';
import { scriptedResponses } from './scripted-responses.ts';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Answering = (asked: Asked) => Reply | undefined;

/** Replies by the first word of the prompt, or as a function says. */
async function withCodex(
  workflow: Readonly<Record<string, string>>,
  replies: Readonly<Record<string, Reply | Answering>> | Answering,
) {
  const model = await scriptedResponses((asked) => {
    const given =
      typeof replies === 'function' ? replies : replies[asked.prompt.split(' ')[0] ?? ''];
    const reply = typeof given === 'function' ? given(asked) : given;
    return reply ?? '<result>done</result>';
  });
  const codex = await codexSandbox(model.url);
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const raymond = await raymondSandbox({
    age: 'newer',
    workflow: { 'workflow.yaml': 'agent: codex\n', ...workflow },
    script: answering({}),
    environment,
  });
  open.push(async () => {
    await raymond.remove();
    await model.close();
    await codex.remove();
  });
  return { raymond, model };
}

const said = (...turns: readonly string[]) =>
  turns.map((text, at) => `${at % 2 === 0 ? 'user' : 'assistant'}: ${text}`);

test('goto, reset, call, function and nested calls give each turn its own memory, and the cost is exact', async () => {
  const usage = (input: number, cached: number, output: number) => ({ input, cached, output });
  const tokens = [
    usage(1000, 0, 10),
    usage(2000, 1000, 20),
    usage(3000, 2000, 30),
    usage(4000, 3000, 40),
    usage(5000, 3000, 50),
    usage(6000, 2000, 60),
    usage(700, 0, 70),
    usage(800, 0, 80),
    usage(900, 700, 90),
  ];
  const answers: Readonly<Record<string, string>> = {
    s: '<goto>A</goto>',
    a: '<call return="D">B</call>',
    b: '<call return="E">C</call>',
    c: '<result>1</result>',
    e: '<result>2</result>',
    d: '<reset>F</reset>',
    f: '<function return="H" input="i">G</function>',
    g: '<result>3</result>',
    h: '<result>end</result>',
  };
  let turn = 0;
  const reply = ({ prompt }: Asked): Reply => {
    const now = tokens[turn];
    turn += 1;
    return { text: answers[prompt.split(' ')[0] ?? ''] ?? '', ...(now && { usage: now }) };
  };
  const { raymond, model } = await withCodex(
    {
      'START.md': 's',
      ...{ 'A.md': 'a', 'B.md': 'b', 'C.md': 'c', 'D.md': 'd {{result}}', 'E.md': 'e {{result}}' },
      ...{ 'F.md': 'f', 'G.md': 'g {{input}}', 'H.md': 'h {{result}}' },
    },
    Object.fromEntries(Object.keys(answers).map((name) => [name, reply])),
  );
  const finished = await raymond.run('workflow', '--workflow-id', 'plays');
  expect(finished).toMatchObject({ code: 0, stdout: 'end\n' });
  const [s, a, b] = ['s', 'a', 'b'].map((name) => [name, answers[name] ?? '']);
  expect(model.requests.map(({ lines }) => lines)).toEqual([
    said('s'),
    said(...(s ?? []), 'a'),
    said(...(s ?? []), ...(a ?? []), 'b'),
    said(...(s ?? []), ...(a ?? []), ...(b ?? []), 'c'),
    said(...(s ?? []), ...(a ?? []), ...(b ?? []), 'e 1'),
    said(...(s ?? []), ...(a ?? []), 'd 2'),
    said('f'),
    said('g i'),
    said('f', answers.f ?? '', 'h 3'),
  ]);
  // The prices of gpt-5.1-codex. Codex counts on over resumes and forks; each turn counts once.
  const usd = tokens.map(
    ({ input, cached, output }) => ((input - cached) * 1.25 + cached * 0.125 + output * 10) / 1e6,
  );
  const events = raymond.journal('plays');
  expect(eventsOf(events, 'step-ended').map(({ cost }) => cost.usd)).toEqual(
    usd.map((each) => expect.closeTo(each, 9)),
  );
  const total = usd.reduce((sum, each) => sum + each, 0);
  const state = JSON.parse(readFileSync(raymond.file('.raymond/state/plays.json'), 'utf8'));
  expect(state.total_cost_usd).toBeCloseTo(total, 9);
});

test('a resume with stricter permissions ends the turn that survived, and continues its session', async () => {
  let held = 0;
  const never = new Promise<void>(() => {});
  const { raymond, model } = await withCodex(
    { 'START.md': 'first', 'WORK.md': 'second' },
    {
      first: '<goto>WORK</goto>',
      // Only the turn before the kill never ends.
      second: () => {
        held += 1;
        return held === 1 ? { text: '', after: never } : '<result>done</result>';
      },
    },
  );
  const started = raymond.start('workflow', '--workflow-id', 'tight');
  await model.arrived(2);
  await killHard(started.child);
  const before = raymond.processes();
  const resumed = await raymond.run('resume', 'tight', '--permission-mode', 'plan');
  expect(resumed).toMatchObject({ code: 0, stdout: 'done\n' });
  // Codex would refuse a second process for the session: "already has an active writer".
  const events = raymond.journal('tight');
  expect(eventsOf(events, 'step-failed')).toEqual([]);
  expect(eventsOf(events, 'step-interrupted')).toHaveLength(1);
  const lines = model.requests.at(-1)?.lines ?? [];
  expect(lines.slice(0, 3)).toEqual(said('first', '<goto>WORK</goto>', 'second'));
  expect(lines.filter((line) => line === 'user: second')).toHaveLength(1);
  expect(lines.at(-1)).toContain('You were interrupted');
  await until(() => before.every((pid) => isGone(pid)));
  const last = raymond.processes().at(-1) ?? 0;
  expect(before).not.toContain(last);
});

test('a stop leaves neither codex nor the commands that it started', async () => {
  const { raymond, model } = await withCodex(
    { 'START.md': 'run' },
    {
      run: shell(SLEEP),
    },
  );
  const started = raymond.start(
    'workflow',
    '--workflow-id',
    'stops',
    '--dangerously-skip-permissions',
  );
  await model.arrived(1);
  await until(() => sleeping().length > 0);
  const stopped = await raymond.run('stop', 'stops', '--now');
  expect(stopped.code).toBe(0);
  expect((await started.finished).code).toBe(130);
  expect(sleeping()).toEqual([]);
  expect(await processesLeft(raymond.claude.work)).toEqual([]);
  expect(raymond.journal('stops').at(-1)).toMatchObject({ outcome: 'interrupted' });
});

test.each([
  ['', true],
  ['permission_mode: plan\n', false],
])('commands of a state with rights write only where it may (%j)', async (mode, mayWrite) => {
  const tries = 'echo new >out/made; echo new >beside; curl -sS -m 5 http://example.org';
  const { raymond, model } = await withCodex(
    { 'START.md': `---\n${mode}rights: { write: [out] }\n---\nrun` },
    { run: shell(tries) },
  );
  mkdirSync(raymond.file('out'));
  const { code, stdout, stderr } = await raymond.run('workflow', '--workflow-id', 'r');
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'done\n' });
  expect(model.requests.at(-1)?.prompt).toContain('blocked by network');
  expect(existsSync(raymond.file('out/made'))).toBe(mayWrite);
  expect(existsSync(raymond.file('beside'))).toBe(false);
  expect(await processesLeft(raymond.claude.work)).toEqual([]);
});

test('after a kill of Raymond, a resume adopts the confined codex, and the model is asked once', async () => {
  const waits = 'echo line >>out/effects; until [ -e go ]; do sleep 0.05; done';
  const { raymond, model } = await withCodex(
    { 'START.md': '---\nrights: { write: [out] }\n---\nrun' },
    { run: shell(waits) },
  );
  mkdirSync(raymond.file('out'));
  const first = raymond.start('workflow', '--workflow-id', 'r');
  await until(() => existsSync(raymond.file('out/effects')));
  await killHard(first.child);
  const resumed = raymond.start('resume', 'r');
  await until(() => eventsOf(raymond.journal('r'), 'run-resumed')[0]);
  writeFileSync(raymond.file('go'), '');
  expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(readFileSync(raymond.file('out/effects'), 'utf8')).toBe('line\n');
  expect(model.requests).toHaveLength(2);
  expect(eventsOf(raymond.journal('r'), 'step-interrupted')).toEqual([]);
  expect(await processesLeft(raymond.claude.work)).toEqual([]);
});

/** The model runs a command. */
function shell(command: string): (asked: Asked) => Reply {
  return ({ tools }) => ({
    text: '',
    tool: tools.includes('exec_command')
      ? { name: 'exec_command', input: { cmd: command } }
      : { name: 'shell_command', input: { command } },
  });
}

/** No other program sleeps for this long. */
const SECONDS = 86_000 + (process.pid % 399);
const SLEEP = `sleep ${SECONDS} & sleep ${SECONDS}`;

function sleeping(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.startsWith(`sleep\0${SECONDS}`);
    } catch {
      return false;
    }
  });
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

async function compacting() {
  const { raymond, model } = await withCodex(
    { ...COMPACTING, 'workflow.yaml': `agent: codex\n${COMPACTING['workflow.yaml']}` },
    ({ prompt }) => Object.entries(SAYS).find(([words]) => prompt.includes(words))?.[1],
  );
  return { ...raymond, seen: () => model.requests.map(({ lines }) => lines) };
}

test('a compact at every depth of the stack begins a session that knows its handover and nothing else', async () => {
  const made = await compacting();
  expect(await made.run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 2 });
  const answered = await made.run('resume', 'r', '--input', 'yes');
  expect(answered, answered.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(made.seen()).toEqual(SEEN);
  await rewoundPlay(made, REWOUND_TO_BEGIN);
});

test.each(inSuite<'codex'>([], ['codex']))(
  'Raymond is killed after everything that it records, and %s sees the same and is paid once',
  { timeout: 400_000 },
  async () => {
    await killedPlay(await compacting());
  },
);

test('a goto beyond the limit begins a session that knows its handover', async () => {
  const { raymond, model } = await withCodex(
    {
      'workflow.yaml': 'agent: codex\nhandover: NOTES\ncontext: { max: 5000 }\n',
      'NOTES.md': 'notes at {{state}}',
      'START.md': 's',
      'LAST.md': 'last {{handover}}',
    },
    {
      s: { text: '<goto>LAST</goto>', usage: { input: 20_000, cached: 0, output: 100 } },
      notes: ({ prompt }) => `from ${prompt.split(' ').at(-1)}`,
      last: '<result>end</result>',
    },
  );
  expect(await raymond.run('workflow', '--workflow-id', 'r')).toMatchObject({ stdout: 'end\n' });
  expect(model.requests.map(({ lines }) => lines)).toEqual([
    said('s'),
    said('s', '<goto>LAST</goto>', 'notes at START.md'),
    said('last from START.md'),
  ]);
  expect(eventsOf(raymond.journal('r'), 'handover-called')).toMatchObject([
    { tag: 'goto', state: 'LAST.md', tokens: 20_100 },
  ]);
});
