import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../../test/make-run.ts';
import { RunHistory } from '../../history/run-history.ts';
import { apply } from '../../interpret/apply.ts';
import { newRun } from '../../interpret/new-run.ts';
import type { Doing } from '../../model/now.ts';
import type { Run } from '../../model/run.ts';
import { widthOf } from '../../observe/screen.ts';
import { type ShownRun, showRun } from './show-run.ts';

const FLOW = { START: [], WORK: [], NEXT: [] };

function shown({ events, run }: Stage, doings: readonly Doing[] = []): ShownRun {
  const history = new RunHistory();
  let after: Run = newRun;
  for (const event of events) {
    after = apply(after, event);
    history.follow(event, after);
  }
  return {
    found: { kind: 'stored', id: run.id, run, isOwn: true, owner: undefined },
    history: history.until(run.updatedAt),
    log: undefined,
    left: undefined,
    lost: [],
    saved: [],
    doings: new Map(doings.map((doing) => [doing.agent, doing])),
  };
}

const linesOf = (found: ShownRun, columns?: number) =>
  showRun(found, columns).map((line) =>
    typeof line === 'string' ? line : line.map(({ text }) => text).join(''),
  );

/** Fifty children: two failed, one asks, one works, the others have ended. */
function crew(): Stage {
  const stage = makeRun(FLOW);
  const forks = Array.from({ length: 50 }, (_, n) => `<fork file="src/part-${n}.ts">WORK</fork>`);
  stage.turn(`${forks.join('')}<join>NEXT</join>`, 'main', 0.1);
  for (let n = 1; n <= 50; n += 1) {
    const id = `main_work${n}`;
    if (n === 7 || n === 33) stage.turn(failed('refused'), id);
    else if (n === 20) stage.turn('<ask next="NEXT">which\nof these?</ask>', id);
    else if (n === 40) stage.start(id);
    else stage.turn(`<result>fixed part ${n}</result>`, id, 0.01);
  }
  return stage;
}

test('failures and questions come first, then the agents in the order of their creation', () => {
  const lines = linesOf(shown(crew()));
  expect(lines.slice(1, 5)).toEqual([
    '  main_work7 failed at WORK.md: It is refused.',
    '  main_work33 failed at WORK.md: It is refused.',
    '  main_work20 asks at WORK.md: which of these?',
    '  To answer: raymond answer flow-00000000 "..."',
  ]);
  expect(lines).toContain(
    '  agents    51: 2 failed, 1 asks you, 1 at work, 1 waits for its child agents, 46 ended',
  );
  const names = lines.flatMap((line) => /^main\S*/.exec(line)?.[0] ?? []);
  expect(names).toEqual(['main', ...Array.from({ length: 50 }, (_, n) => `main_work${n + 1}`)]);
});

test.each([
  [undefined, '1 at work, 2 ready', 'ready'],
  [
    { pid: 7, started: '', boot: '', name: 'process 7', isHere: true },
    '1 at work, 2 wait for money',
    'waits for money',
  ],
])('agents of a crashed run wait for nothing but a resume', (owner, agents, status) => {
  const stage = makeRun(FLOW, { settings: { budgetUsd: 0.05 } });
  stage.turn('<fork>WORK</fork><fork>WORK</fork><goto>NEXT</goto>', 'main', 0.01);
  stage.start('main');
  const made = shown(stage);
  const lines = linesOf({ ...made, found: { ...made.found, owner } });
  expect(lines).toContain(`  agents    3: ${agents}`);
  expect(lines.filter((line) => line.startsWith('main_') && line.endsWith(status))).toHaveLength(2);
});

test('an agent has its variables, its time, its cost, and its status or result', () => {
  const lines = linesOf(shown(crew()));
  const lineOf = (id: string) => lines.find((line) => line.startsWith(`${id} `));
  expect(lineOf('main')).toMatch(
    /START\.md +1\.0 s +\$0\.1000 {2}waits for 2 of 50 children: 50 child agents$/,
  );
  expect(lineOf('main_work1')).toMatch(
    /file=src\/part-0\.ts +WORK\.md +1\.0 s +\$0\.0100 {2}ended: fixed part 1$/,
  );
  expect(lineOf('main_work7')).toMatch(/failed: It is refused\.$/);
  expect(lineOf('main_work20')).toMatch(/asking: which of these\?$/);
  expect(lineOf('main_work40')).toMatch(/running since [^:]*\d\d:\d\d:\d\d$/);
});

test('a running agent shows what it is doing, and a publication of another step is ignored', () => {
  const doing = (step: number): Doing => ({
    agent: 'main_work40',
    step,
    tool: { at: 1, name: 'Bash', summary: 'npm test' },
  });
  const lineWith = (step: number) =>
    linesOf(shown(crew(), [doing(step)])).find((line) => line.startsWith('main_work40 '));
  expect(lineWith(1)).toMatch(/: Bash npm test$/);
  expect(lineWith(2)).not.toContain('npm test');
});

test('states have visits, steps, failures, time and cost', () => {
  const lines = linesOf(shown(crew()));
  const from = lines.findIndex((line) => line.startsWith('STATE '));
  expect(lines.slice(from).map((line) => line.split(/ {2,}/))).toEqual([
    ['STATE', 'VISITS', 'STEPS', 'FAILED', 'WORKED', 'COST'],
    ['START.md', '1', '1', '1.0 s', '$0.1000'],
    ['WORK.md', '50', '50', '2', expect.stringMatching(/^\d+/), '$0.4600'],
  ]);
});

test.each([60, 80, 140])('the tables fit %i columns', (columns) => {
  const lines = linesOf(shown(crew()), columns);
  const rows = lines.slice(lines.indexOf('')).filter((line) => line !== '');
  expect(rows.map(widthOf).filter((width) => width > columns - 4)).toEqual([]);
});

test('hostile names and values stay on their lines and cannot act', () => {
  const stage = makeRun(FLOW);
  stage.turn('<fork name="\x1b[2J&#10;main  ended">WORK</fork><goto>NEXT</goto>');
  stage.turn('<result>\x1b]0;x\x07\n\nmain_work9  failed</result>', 'main_work1');
  for (const line of linesOf(shown(stage), 80)) {
    expect(line).not.toMatch(/[^\x20-\x7e]/);
    expect(line).not.toMatch(/^main_work9/);
  }
});

test.each<[string, ShownRun['left'], string | undefined]>([
  ['no run', { kind: 'unknown', runs: 0, needed: 3 }, undefined],
  [
    'too few runs',
    { kind: 'unknown', runs: 2, needed: 3 },
    '  forecast  none: it needs 3 completed runs of the workflow with these files, and there are 2',
  ],
  [
    'a state that was never passed',
    { kind: 'unknown', runs: 0, needed: 3, state: 'X.md' },
    '  forecast  none: it needs 3 completed runs of the workflow with these files that passed X.md in this way, and there are 0',
  ],
  [
    'enough runs',
    {
      kind: 'known',
      runs: 12,
      cost_usd: { low: 0.2, median: 0.4, high: 0.8 },
      time_ms: { low: 60_000, median: 120_000, high: 300_000 },
    },
    '  forecast  about $0.4000 and 2 min 0 s more (half of 12 runs: $0.2000 to $0.8000, 1 min 0 s to 5 min 0 s)',
  ],
])('the forecast from %s', (_, left, expected) => {
  const lines = linesOf({ ...shown(crew()), left });
  expect(lines.find((line) => line.includes('forecast'))).toBe(expected);
});
