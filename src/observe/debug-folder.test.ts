import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stepMessages } from '../execute/steps/step-folder.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Run } from '../model/run.ts';
import { play, type Script } from '../testing.ts';
import { type DebugOptions, debugFolderObserver } from './debug-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'raymond-debug-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const PLAY: Script = {
  START: [{ text: '<goto>POLL.sh</goto>', costUsd: 0.05 }],
  'POLL.sh': ['<call return="END">SUB</call>'],
  SUB: ['<result>ok</result>'],
  END: ['<result>Task "done"</result>'],
};

async function observeAPlay(
  folder: string,
  report: (problem: string) => void,
  script = PLAY,
  bounds?: Parameters<typeof debugFolderObserver>[1],
): Promise<void> {
  const { events } = await play(script);
  const stepFolder = (agent: string, step: number) => join(root, 'steps', agent, String(step));
  mkdirSync(stepFolder('main', 1), { recursive: true });
  mkdirSync(stepFolder('main', 2), { recursive: true });
  const raw = join(root, 'raw.jsonl');
  writeFileSync(raw, '{"of":"before"}\n{"type":"text"}\n{"type":"result"}\n');
  writeFileSync(
    join(stepFolder('main', 1), 'raw.json'),
    JSON.stringify({ file: raw, from: 16, to: 52 }),
  );
  writeFileSync(join(stepFolder('main', 2), 'stdout'), 'polled\u202e\x9b');
  const outputOf: DebugOptions['outputOf'] = (agent, step, kind) =>
    stepMessages(stepFolder(agent, step), kind);
  const observer = debugFolderObserver({ folder, report, outputOf }, bounds);
  let run: Run = newRun;
  for (const event of events) {
    const before = run;
    run = apply(run, event);
    observer.event(event, before, run);
  }
}

/** The entries of `transitions.log`, without their times. */
async function logOf(script: Script): Promise<readonly string[]> {
  const folder = join(root, 'debug');
  await observeAPlay(folder, (problem) => expect.fail(problem), script);
  const log = readFileSync(join(folder, 'transitions.log'), 'utf8');
  return log
    .replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /gm, '')
    .trimEnd()
    .split('\n\n');
}

test('keeps the output of each step, with its place and time', async () => {
  const folder = join(root, 'debug');
  await observeAPlay(folder, (problem) => expect.fail(problem));
  expect(readdirSync(folder).sort()).toEqual([
    'main_END_004.json',
    'main_POLL_002.json',
    'main_START_001.json',
    'main_SUB_003.json',
    'transitions.log',
  ]);
  expect(readFileSync(join(folder, 'main_START_001.json'), 'utf8')).toMatch(
    /^\[\n {2}\{\n {4}"type": "step",\n {4}"agent_id": "main",\n/,
  );
  expect(JSON.parse(readFileSync(join(folder, 'main_START_001.json'), 'utf8'))).toEqual([
    {
      type: 'step',
      agent_id: 'main',
      current_state: 'START.md',
      step_number: 1,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
    { type: 'text' },
    { type: 'result' },
    { type: 'cost', cost_usd: 0.05 },
  ]);
  const polled = readFileSync(join(folder, 'main_POLL_002.json'), 'utf8');
  expect(JSON.parse(polled)[1]).toEqual({ type: 'content', text: 'polled\u202e\x9b' });
  expect(polled).toContain('polled\\u202e\\u009b');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'transitions.log')).mode & 0o777).toBe(0o600);
});

test('keeps the newest steps and the end of the log of a long run', async () => {
  const folder = join(root, 'debug');
  const report = (problem: string) => expect.fail(problem);
  await observeAPlay(folder, report, PLAY, { files: 2, bytes: 100_000, logBytes: 150 });
  expect(readdirSync(folder).sort()).toEqual([
    'main_END_004.json',
    'main_SUB_003.json',
    'transitions.log',
    'transitions.log.1',
  ]);
  expect(readFileSync(join(folder, 'transitions.log'), 'utf8')).toContain('Task');
});

test('logs every transition with the session and the cost of the step that led to it', async () => {
  expect(
    await logOf({
      START: [{ text: '<goto>POLL.sh</goto>', costUsd: 0.05 }],
      'POLL.sh': ['<call return="BACK">SUB</call>'],
      SUB: [{ text: '<reset>AGAIN</reset>', costUsd: 0.0004 }],
      AGAIN: [{ text: '<function return="LAST">PURE</function>', costUsd: 0.25 }],
      PURE: [{ text: '<result>ok</result>', costUsd: 1 }],
      LAST: ['<result>ok</result>'],
      BACK: ['<result>Task "done"\nfor \x1b[31mgood</result>'],
    }),
  ).toEqual([
    '[main] START.md -> POLL.sh (goto)\n  session_id: s1\n  cost: $0.05\n  total_cost: $0.05',
    '[main] POLL.sh -> SUB.md (call)\n  session_id: s1\n  stack_depth: 1\n  total_cost: $0.05',
    '[main] SUB.md -> AGAIN.md (reset)\n  session_id: s3 (branched)\n  stack_depth: 1\n  cost: $0.0004\n  total_cost: $0.0504',
    '[main] AGAIN.md -> PURE.md (function)\n  session_id: s4\n  stack_depth: 2\n  cost: $0.25\n  total_cost: $0.3004',
    '[main] PURE.md -> LAST.md (result)\n  session_id: s5\n  stack_depth: 1\n  cost: $1.00\n  total_cost: $1.3004',
    '[main] LAST.md -> BACK.md (result)\n  session_id: s4 (resumed)\n  cost: $0.00\n  total_cost: $1.3004',
    '[main] BACK.md -> (result, terminated)\n  session_id: s1 (resumed)\n  cost: $0.00\n  total_cost: $1.3004\n  result: "Task \\"done\\"\\nfor \\u001b[31mgood"',
  ]);
});

test('the text of an agent cannot forge entries of the log', async () => {
  const [entry] = await logOf({ START: ['<goto>NO\n\n2026-01-01 10:00:00 [main] x</goto>'] });
  expect(entry).toMatch(/^\[main\] START\.md -> \(failed\)\n/);
  expect(entry).not.toMatch(/^2026/m);
});

test('never makes a run fail, and reports an error once', async () => {
  const file = join(root, 'in-the-way');
  writeFileSync(file, '');
  const problems: string[] = [];
  await observeAPlay(join(file, 'debug'), (problem) => problems.push(problem));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('cannot be written');
});
