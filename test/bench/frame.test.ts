// The frame of `npm run bench`, on fabricated rounds. Nothing here measures time.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CASES } from '../../bench/bench.ts';
import { judge, lastOfSameMachine } from '../../bench/frame/judge.ts';
import { choose } from '../../bench/frame/main.ts';
import { type Orchestrator, otherOrchestrator } from '../../bench/frame/orchestrator.ts';
import { type Line, type Result, readResults, writeResult } from '../../bench/frame/result.ts';
import { measureRounds, seriesOf } from '../../bench/frame/rounds.ts';
import { markdownTable, performanceText, textTable } from '../../bench/frame/table.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raymond-bench-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('cases', () => {
  test('no two have the same name', () => {
    const names = CASES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('all are chosen if none is named', () => {
    expect(choose(CASES, undefined)).toEqual(CASES);
  });

  test('are measured in the order of the table', () => {
    const [first, second] = CASES.map(({ name }) => name);
    const chosen = choose(CASES, [second ?? '', first ?? '']);
    expect(chosen.map(({ name }) => name)).toEqual([first, second]);
  });

  test('an unknown name is an error that lists the known ones', () => {
    expect(() => choose(CASES, ['none'])).toThrow(/no case "none".*start-help/);
  });
});

describe('rounds', () => {
  const named = (name: string): Orchestrator => ({ ...otherOrchestrator('true'), name });

  test('take turns, every second round in the opposite order', async () => {
    const order: string[] = [];
    const measures = {
      floor: () => order.push('floor'),
      ours: ({ name }: Orchestrator) => order.push(name),
    };
    await measureRounds({ rounds: 2 }, measures, named('us'), [named('them')]);
    expect(order).toEqual(['floor', 'us', 'them', 'them', 'us', 'floor']);
  });

  test('a failure of another orchestrator is its result', async () => {
    const measures = {
      floor: () => 1,
      ours({ name }: Orchestrator) {
        if (name === 'them') throw new Error('exited with 1');
        return 2;
      },
    };
    const { ours, others } = await measureRounds({ rounds: 3 }, measures, named('us'), [
      named('them'),
    ]);
    expect(ours).toEqual({ least: 2, spread: 0, rounds: 3 });
    expect(others).toEqual({ them: { failure: 'exited with 1' } });
  });

  test('a failure of ours is a failure of the case', async () => {
    const measures = {
      floor: () => 1,
      ours() {
        throw new Error('exited with 1');
      },
    };
    await expect(measureRounds({}, measures, named('us'), [])).rejects.toThrow('exited with 1');
  });

  test('the least counts, and the spread is the distance of the median', () => {
    expect(seriesOf([3, 2, 10])).toEqual({ least: 2, spread: 0.5, rounds: 3 });
  });
});

describe('judgement', () => {
  test.each([
    [{ target: 2, aim: 1.5 }, 3, 'aim'],
    [{ target: 2, aim: 1.5 }, 4, 'target'],
    [{ target: 2 }, 3, 'target'],
    [{ target: 2, aim: 1.5 }, 4.1, 'missed'],
  ] as const)('%j with %d over a floor of 2 reaches: %s', (goal, ours, reached) => {
    expect(judge(line({ ...goal, ours }), undefined)?.reached).toBe(reached);
  });

  test('a limit of the value ignores the floor', () => {
    const memory = line({ limits: 'value', target: 120, ours: 119 });
    expect(judge(memory, undefined)).toEqual({ figure: 119, reached: 'target', regressed: false });
  });

  test.each([
    [4.4, false],
    [4.7, true],
    [3, false],
  ])('%d after 4 over a floor of 2 is a regression: %s', (ours, regressed) => {
    const last = result({ lines: [line({ ours: 4 })] });
    expect(judge(line({ ours }), last)).toMatchObject({ before: 2, regressed });
  });

  test('a case without an earlier figure is no regression', () => {
    const last = result({ lines: [line({ name: 'other', ours: 1 })] });
    expect(judge(line({ ours: 9 }), last)).toMatchObject({ regressed: false });
  });

  test('results of other kinds of machines are not compared', () => {
    const here = result({});
    const other = result({ machine: { ...here.machine, cores: 64 }, date: '2026-03-01T00:00:00Z' });
    const older = result({ machine: { ...here.machine, kernel: '5.0', load: 3 } });
    expect(lastOfSameMachine(here, [other, older])).toBe(older);
    expect(lastOfSameMachine(here, [other])).toBeUndefined();
  });
});

describe('result files', () => {
  test('are read as they were written, the newest first', () => {
    const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'].map((date) =>
      result({ date, lines: [line({}), failed] }),
    ) as [Result, Result];
    writeResult(second, true, folder);
    writeResult(first, true, folder);
    expect(readResults(folder)).toEqual([second, first]);
  });

  test('a run of chosen cases is no base for comparison', () => {
    writeResult(result({}), false, folder);
    expect(readdirSync(folder)).toEqual(['chosen-cases.json']);
    expect(readResults(folder)).toEqual([]);
  });

  test('a folder that does not exist holds no results', () => {
    expect(readResults(join(folder, 'none'))).toEqual([]);
  });
});

describe('tables', () => {
  test('show the figure, the goal, the last figure and the verdict', () => {
    const last = result({ lines: [line({ ours: 4 })] });
    const shown = textTable(result({ lines: [line({ ours: 6 }), failed] }), last);
    expect(shown).toContain('2 ms +10%  6 ms +10%  3 ×     ≤ 4    2 ×   REGRESSED, target');
    expect(shown).toContain('failed: no bash');
  });

  test('show what other orchestrators did', () => {
    const others = { one: series(8), two: { failure: 'exited with 1' } };
    const shown = textTable(result({ lines: [line({ ours: 6, others })] }), undefined);
    expect(shown).toContain('case, one: 4 × (8 ms +10%)');
    expect(shown).toContain('case, two: exited with 1');
  });

  test('the table of the documents marks a missed target', () => {
    const table = markdownTable(result({ lines: [line({ ours: 9 })] }));
    expect(table).toContain(
      '| a case | a floor | 9 ms +10% / 2 ms +10% | **4.5 ×** (missed) | ≤ 4 |',
    );
  });

  test('the table of the documents has a column for each other orchestrator', () => {
    const measured = line({ ours: 4, others: { one: series(8) } });
    const table = markdownTable(result({ lines: [measured, line({}), failed] }));
    expect(table).toContain('| reach | one |');
    expect(table).toContain('| ≤ 4 | 4 × (8 ms +10%) |');
    expect(table).toContain('| ≤ 4 |  |');
    expect(table).toContain('| failed | ≤ 4 |  |');
  });

  test('the text of the documents names the machine and the versions, and no path', () => {
    const text = performanceText(result({ lines: [line({})] }));
    expect(text).toMatch(/^2026-01-01, 2 × CPU, 8 GB, Linux 6.1, Node v20, Raymond 0.1.0 \(abc\)/);
    expect(text).not.toContain('/home');
  });
});

test.each([
  ['other', 'other'],
  ['/opt/one/bin/run --quiet', 'run'],
  ['mine=node /opt/run.js', 'mine'],
])('the command "%s" is named %s', (command, name) => {
  expect(otherOrchestrator(command).name).toBe(name);
});

test('a command gets the workflow as its last argument, in the project', () => {
  const other = otherOrchestrator(`test "$(pwd)" =`);
  expect(other.run({ project: folder, workflow: folder })).toBeGreaterThan(0);
  expect(() => other.run({ project: folder, workflow: '/' })).toThrow('exited with 1');
});

function series(least: number) {
  return { least, spread: 0.1, rounds: 5 };
}

type LineParts = Partial<Omit<Line, 'outcome'>> & {
  readonly ours?: number;
  readonly others?: Extract<Line['outcome'], { kind: 'measured' }>['others'];
};

function line({ ours = 4, others = {}, ...parts }: LineParts): Line {
  return {
    name: 'case',
    title: 'a case',
    floor: 'a floor',
    unit: 'ms',
    limits: 'ratio',
    target: 4,
    ...parts,
    outcome: { kind: 'measured', floor: series(2), ours: series(ours), others },
  };
}

const failed: Line = { ...line({ name: 'broken' }), outcome: { kind: 'failed', why: 'no bash' } };

function result(parts: Partial<Result>): Result {
  return {
    version: 1,
    date: '2026-01-01T00:00:00.000Z',
    machine: { cpu: 'CPU', cores: 2, memoryGb: 8, kernel: '6.1', load: 0 },
    versions: { node: 'v20', raymond: '0.1.0', commit: 'abc', agents: [] },
    lines: [],
    ...parts,
  };
}
