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
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Run } from '../model/run.ts';
import { play } from '../testing.ts';
import { debugFolderName, debugFolderObserver } from './debug-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'raymond-debug-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function observeAPlay(folder: string, report: (problem: string) => void): Promise<void> {
  const { events } = await play({
    START: [{ text: '<goto>POLL.sh</goto>', costUsd: 0.05 }],
    'POLL.sh': ['<call return="END">SUB</call>'],
    SUB: ['<result>ok</result>'],
    END: ['<result>Task "done"</result>'],
  });
  const stepFolder = (agent: string, step: number) => join(root, 'steps', agent, String(step));
  mkdirSync(stepFolder('main', 1), { recursive: true });
  mkdirSync(stepFolder('main', 2), { recursive: true });
  const raw = join(root, 'raw.jsonl');
  writeFileSync(raw, '{"of":"before"}\n{"type":"text"}\n{"type":"result"}\n');
  writeFileSync(
    join(stepFolder('main', 1), 'raw.json'),
    JSON.stringify({ file: raw, from: 16, to: 52 }),
  );
  writeFileSync(join(stepFolder('main', 2), 'stdout'), 'polled');
  const observer = debugFolderObserver({ folder, report, stepFolder });
  let run: Run = newRun;
  for (const event of events) {
    const before = run;
    run = apply(run, event);
    observer.event(event, before, run);
  }
}

test('keeps what each step said, and a log of all transitions', async () => {
  const folder = join(root, 'debug');
  await observeAPlay(folder, (problem) => expect.fail(problem));
  expect(readdirSync(folder).sort()).toEqual([
    'main_END_004.json',
    'main_POLL_002.json',
    'main_START_001.json',
    'main_SUB_003.json',
    'transitions.log',
  ]);
  expect(JSON.parse(readFileSync(join(folder, 'main_START_001.json'), 'utf8'))).toEqual([
    { type: 'text' },
    { type: 'result' },
    { type: 'cost', cost_usd: 0.05 },
  ]);
  expect(JSON.parse(readFileSync(join(folder, 'main_POLL_002.json'), 'utf8'))[0]).toEqual({
    type: 'content',
    text: 'polled',
  });
  const log = readFileSync(join(folder, 'transitions.log'), 'utf8');
  const stamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /gm;
  expect(log.replace(stamp, 'AT ').split('\n\n').slice(0, 2)).toEqual([
    'AT [main] START.md -> POLL.sh (goto)\n  session_id: s1\n  cost: $0.05\n  total_cost: $0.05',
    'AT [main] POLL.sh -> SUB.md (call)\n  stack_depth: 1\n  total_cost: $0.05',
  ]);
  expect(log).toContain('[main] END.md -> (result, terminated)');
  expect(log).toContain('result: "Task \\"done\\""');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'transitions.log')).mode & 0o777).toBe(0o600);
});

test('never makes a run fail: it reports the trouble once', async () => {
  const file = join(root, 'in-the-way');
  writeFileSync(file, '');
  const problems: string[] = [];
  await observeAPlay(join(file, 'debug'), (problem) => problems.push(problem));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('cannot be written');
});

test('its name has the run and the time', () => {
  expect(debugFolderName('demo-1', new Date(2026, 0, 15, 14, 30, 22))).toBe(
    'demo-1_20260115_143022',
  );
});
