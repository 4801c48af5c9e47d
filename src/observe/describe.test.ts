import { expect, test } from 'vitest';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { play } from '../testing.ts';
import { Describer, type Line } from './describe.ts';
import { formatLine, plainObserver } from './plain.ts';

function linesOf(events: readonly RunEvent[]): readonly string[] {
  const describer = new Describer(() => []);
  let run: Run = newRun;
  return events.flatMap((event) => {
    const before = run;
    run = apply(run, event);
    const line = describer.describe(event, before, run);
    return line ? [`${line.who} ${line.tone}: ${line.text.replace(/\d+\.\d s/g, 'T')}`] : [];
  });
}

test('the lines of a run', async () => {
  const { events } = await play({
    START: [{ text: '<call return="END">SUB</call>', costUsd: 0.25, denied: ['Bash rm -rf'] }],
    SUB: ['<fork next="BACK" item="7" env="a">WORKER</fork>'],
    BACK: ['<result>sub\ndone</result>'],
    WORKER: ['no tag'],
    END: ['<result>all</result>'],
  });
  const lines = linesOf(events);
  expect(lines[0]).toBe('run plain: play-00000000 starts: /workflow at START.md (budget $10.00)');
  expect(lines).toContain('main warning: START.md was denied: Bash rm -rf');
  expect(lines).toContain('main plain: START.md -> call SUB.md (T, $0.2500)');
  expect(lines).toContain(
    'main_worker1 plain: forked by main at WORKER.md (item=7, env=a), not in the environment: env',
  );
  expect(lines).toContain('main plain: BACK.md -> result END.md (T, $0.00): sub done');
  expect(lines).toContain('main good: END.md -> result (T, $0.00): all');
  expect(lines).toContain(
    'main_worker1 bad: WORKER.md -> failed (T, $0.00): There is no transition tag. The agent\'s last words: "no tag". Say in WORKER.md with which tag the step ends, or list its allowed_transitions, so that Raymond can remind the agent.',
  );
  expect(lines.at(-1)).toMatch(
    /^run bad: play-00000000 failed \(5 steps, T, \$0\.2500\)\. .*raymond resume/,
  );
});

test('the line of a transition has the time and cost of the whole step, with its checks', async () => {
  const front = `---
ensures:
  - { run: npm test, say: The tests must pass. }
evaluators:
  - { prompt: JUDGE, expect: "YES", then: { tag: goto, target: START } }
---
Work.`;
  const { events } = await play({
    START: { text: front, answers: [{ text: '<result>the words</result>', costUsd: 0.5 }, 'ok'] },
    JUDGE: [{ text: '<result>YES</result>', costUsd: 0.25 }],
  });
  const lines = linesOf(events).map((line) => line.replace(/\d+\.\d+ s/g, 'T'));
  expect(lines).toContain('main faint: START.md -> evaluator');
  expect(lines).toContain('main faint: START.md -> check npm test');
  expect(lines).toContain('main good: START.md -> result (T, $0.7500): the words');
});

test('the line of every end names the next command', async () => {
  const ends = [
    await play({ START: ['<ask next="START">Really?</ask>'] }),
    await play({ START: ['<goto>START</goto>'] }, { settings: { maxIterations: 1 } }),
    await play({ START: [{ text: '<goto>START</goto>', costUsd: 11 }] }),
  ];
  expect(
    ends.map(({ events }) =>
      linesOf(events)
        .at(-1)
        ?.replace(/\(.*?\)/, ''),
    ),
  ).toEqual([
    'run bad: play-00000000 waits for a person . Answer, then run: raymond resume play-00000000',
    'run bad: play-00000000 stopped: iterations . To continue: raymond resume play-00000000 --max-iterations 2',
    'run bad: play-00000000 stopped: budget . To continue: raymond resume play-00000000 --budget 21',
  ]);
});

test('an offered command stays one command for any run id in a journal', async () => {
  const { events } = await play({ START: ['no tag'] });
  const renamed = events.map((event) =>
    event.type === 'run-started' ? { ...event, run: 'x; rm -rf .' } : event,
  );
  expect(linesOf(renamed).at(-1)).toContain("raymond resume 'x; rm -rf .'");
});

test.each([
  [{ prompts: 12, agents: 1 }, 'budget $10.00, at most 12 prompts'],
  [{ prompts: 8, agents: 3 }, 'budget $10.00, at most 8 prompts by 3 agents'],
  [{ agents: 1 }, 'budget $10.00, no limit to its prompts'],
])('the start says the bound %j', async (bound, said) => {
  const { events } = await play({ START: ['<result>x</result>'] });
  const [started] = linesOf(
    events.map((event) => (event.type === 'run-started' ? { ...event, bound } : event)),
  );
  expect(started).toContain(`(${said})`);
});

test('a line has a time, an agent and a text, and colour only if requested', () => {
  const line = { at: 0, who: 'main', tone: 'bad', text: 'oh' } as const;
  expect(formatLine(line, { color: false })).toMatch(/^\d\d:\d\d:\d\d main {3}oh\n$/);
  expect(formatLine(line, { color: true })).toContain('\x1b[31moh');
});

test.each([
  ['quiet', ['was not allowed to use Bash', '| shown']],
  ['normal', ['was not allowed to use Bash', '| shown', 'retrying']],
  ['verbose', ['was not allowed to use Bash', '| shown', 'retrying', '| thinking', '> Read a.ts']],
] as const)('a %s report of a step shows %j', (verbosity, expected) => {
  let text = '';
  const observer = plainObserver({
    verbosity,
    alarmsOf: () => [],
    show: (line) => {
      text += formatLine(line, { color: false });
    },
  });
  observer.live({ agent: 'main', step: 1 }, { kind: 'denied', tool: 'Bash' });
  observer.live({ agent: 'main', step: 1 }, { kind: 'print', text: 'shown\n' });
  observer.live({ agent: 'main', step: 1 }, { kind: 'note', text: 'retrying' });
  observer.live({ agent: 'main', step: 1 }, { kind: 'text', text: 'thinking' });
  observer.live({ agent: 'main', step: 1 }, { kind: 'tool', name: 'Read', summary: 'a.ts' });
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(16)),
  ).toEqual(expected);
});

test('a line about the run is broken at spaces, and its command is not', () => {
  const text = 'failed (3 steps, 2 s, $0.00). Fix the cause, then run: raymond resume a-long-name';
  const line: Line = { at: 0, who: 'run', tone: 'bad', text };
  const shown = formatLine(line, { color: false, columns: 40 });
  expect(shown.split('\n').map((row) => row.slice(16))).toEqual([
    'failed (3 steps, 2 s, ',
    '$0.00). Fix the cause, ',
    'then run:',
    'raymond resume a-long-name',
    '',
  ]);
  expect(formatLine(line, { color: false })).toContain(text);
});
