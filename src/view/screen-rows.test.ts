import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import { rowsText } from '../../test/view/rows-text.ts';
import type { Doing } from '../model/now.ts';
import { type Frame, screenRows } from './screen-rows.ts';
import { seenEvent, type View, viewOf } from './view.ts';

const ITEMS = ['api', 'web', 'docs', 'tests', 'release'];
const FORKS = ITEMS.map((item) => `<fork next="COLLECT" item="${item}">WORK</fork>`).join('');

/** Five children: one works, one asks, one retries, one has failed, one is ready. */
function fiveChildren(): Stage {
  const stage = makeRun({ START: [], COLLECT: [], WORK: [], DONE: [], GO: [] });
  stage.turn(FORKS, 'main', 0.0421);
  stage.turn('<join>DONE</join>', 'main', 0.01);
  stage.start('main_work1');
  stage.turn(
    '<ask next="GO">Which database should the API use, PostgreSQL or SQLite?</ask>',
    'main_work2',
    1.5,
  );
  stage.turn(failed('overloaded', 0.02), 'main_work3');
  stage.turn(failed('not-logged-in'), 'main_work4');
  return stage;
}

function viewAfter({ events, run }: Stage): View {
  return events.reduce((view, event) => seenEvent(view, event, run), viewOf(run));
}

const DOING: Doing = {
  agent: 'main_work1',
  step: 1,
  words: { at: 1, text: 'I look at the tests first.' },
  tool: { at: 2, name: 'Bash', summary: 'npm run test -- --reporter=verbose src/server/routes' },
};

function shown(stage: Stage, frame: Partial<Frame> = {}): string {
  const doing = new Map([[DOING.agent, DOING]]);
  const size = { width: 80, height: 24, now: stage.now + 61_000 };
  return rowsText(screenRows(viewAfter(stage), { ...size, doing, ...frame }).rows);
}

test('a view of 80 columns', () => {
  expect(shown(fiveChildren())).toMatchInlineSnapshot(`
    "
      ○ main                     COLLECT.md  waits for 4 of 5 child…   $0.05   1:09
      ● main_work1 item=api      WORK.md     Bash npm run test -- --report…    1:08
      ? main_work2 item=web      WORK.md     asks: Which database…     $1.50   1:06
      ↻ main_work3 item=docs     WORK.md     retries in 0:00: It is…   $0.02
      ✗ main_work4 item=tests    WORK.md     failed: It is not-logged-in.
      ○ main_work5 item=release  WORK.md     waits for money

    flow-00000000 · 1:10 · $1.57 of $10.00 · 1 failed · 1 asks you · 1 running
    1 waits for a retry, 1 for money, 1 for its child agents
    "
  `);
});

test('a view of 60 columns', () => {
  expect(shown(fiveChildren(), { width: 60 })).toMatchInlineSnapshot(`
    "
      ○ main                     COLLE…   waits for 4…     1:09
      ● main_work1 item=api      WORK.md  Bash npm run…    1:08
      ? main_work2 item=web      WORK.md  asks: Which…     1:06
      ↻ main_work3 item=docs     WORK.md  retries in 0:00: It…
      ✗ main_work4 item=tests    WORK.md  failed: It is not-l…
      ○ main_work5 item=release  WORK.md  waits for money

    flow-00000000 · 1:10 · $1.57 of $10.00 · 1 failed
    1 asks you · 1 running
    1 waits for a retry, 1 for money, 1 for its child agents
    "
  `);
});

test('a view of 140 columns', () => {
  expect(shown(fiveChildren(), { width: 140 })).toMatchInlineSnapshot(`
    "
      ○ main                     COLLECT.md  waits for 4 of 5 children                                                             $0.05   1:09
      ● main_work1 item=api      WORK.md     Bash npm run test -- --reporter=verbose src/server/routes                                     1:08
      ? main_work2 item=web      WORK.md     asks: Which database should the API use, PostgreSQL or SQLite?                        $1.50   1:06
      ↻ main_work3 item=docs     WORK.md     retries in 0:00: It is overloaded.                                                    $0.02
      ✗ main_work4 item=tests    WORK.md     failed: It is not-logged-in.
      ○ main_work5 item=release  WORK.md     waits for money

    flow-00000000 · 1:10 · $1.57 of $10.00 · 1 failed · 1 asks you · 1 running · 1 waits for a retry, 1 for money, 1 for its child agents
    "
  `);
});

test('a view of 40 columns leaves out the cost', () => {
  expect(shown(fiveChildren(), { width: 40 })).toMatchInlineSnapshot(`
    "
    main            COLLE…   waits…    1:09
    main_work1…     WORK.md  Bash…     1:08
    main_work2…     WORK.md  asks:…    1:06
    main_work3…     WORK.md  retries in…
    main_work4…     WORK.md  failed: It…
    main_work5…     WORK.md  waits for…

    flow-00000000 · 1:10 · $1.57 of $10.00
    1 failed · 1 asks you · 1 running
    1 waits for a retry, 1 for money, 1…
    "
  `);
});

test('a view of 30 columns leaves out what agents do', () => {
  expect(shown(fiveChildren(), { width: 30 })).toMatchInlineSnapshot(`
    "
    main                  COLLE…
    main_work1 item=api   WORK.md
    main_work2 item=web   WORK.md
    main_work3 item=docs  WORK.md
    main_work4 item=te…   WORK.md
    main_work5 item=re…   WORK.md

    flow-00000000 · 1:10
    $1.57 of $10.00 · 1 failed
    1 asks you · 1 running
    1 waits for a retry, 1 for…
    "
  `);
});

test('a view of 12 columns has the names only', () => {
  expect(shown(fiveChildren(), { width: 12 })).toMatchInlineSnapshot(`
    "
    main
    main_work…
    main_work…
    main_work…
    main_work…
    main_work…

    flow-0000…
    1:10
    $1.57 of…
    1 failed
    1 asks you
    1 running
    1 waits…
    "
  `);
});

test('too many agents are summarised: those that need attention come first', () => {
  expect(shown(fiveChildren(), { height: 9 })).toMatchInlineSnapshot(`
    "
      ✗ main_work4 item=tests    WORK.md     failed: It is not-logged-in.
      ? main_work2 item=web      WORK.md     asks: Which database…     $1.50   1:06
        and 4 more: 1 running, 1 waits for a retry, 1 for money, 1 for its child…
    flow-00000000 · 1:10 · $1.57 of $10.00 · 1 failed · 1 asks you · 1 running
    1 waits for a retry, 1 for money, 1 for its child agents
    "
  `);
});

test('a question is answered below the agents', () => {
  const stage = fiveChildren();
  const { status } = stage.agent('main_work2');
  const question = status.kind === 'asking' ? status.question : '';
  const typing = { asked: { agent: 'main_work2', question }, before: 'SQL', after: 'ite' };
  expect(shown(stage, { typing, width: 60 })).toMatchInlineSnapshot(`
    "
      ○ main                     COLLE…   waits for 4…     1:09
      ● main_work1 item=api      WORK.md  Bash npm run…    1:08
      ? main_work2 item=web      WORK.md  asks you         1:06
      ↻ main_work3 item=docs     WORK.md  retries in 0:00: It…
      ✗ main_work4 item=tests    WORK.md  failed: It is not-l…
      ○ main_work5 item=release  WORK.md  waits for money

    flow-00000000 · 1:10 · $1.57 of $10.00 · 1 failed
    1 asks you · 1 running
    1 waits for a retry, 1 for money, 1 for its child agents

    main_work2 asks:
      | Which database should the API use, PostgreSQL or 
      | SQLite?
    > SQL[]ite
    "
  `);
});

test('the rest of a long question is left out', () => {
  const asked = { agent: 'main', question: 'one\ntwo\nthree\nfour\nfive', deadline: 1_061_000 };
  const typing = { asked, before: 'x'.repeat(99), after: '' };
  const stage = makeRun({ START: [] });
  expect(shown(stage, { typing, width: 40, height: 10 })).toMatchInlineSnapshot(`
    "flow-00000000 · 0:00 · $0.00 of $10.00
    0 running

    main asks (0:00 left):
      | …
    ^ xxxxxxxxxxxxxxxxxxxxxxxxxxx[]
    "
  `);
});

test('a usage limit has a countdown', () => {
  const stage = makeRun({ START: [] });
  stage.turn(failed('usage-limit', 0, { resetsAt: stage.now + 3_725_000 }));
  expect(shown(stage).replaceAll(/until .*/g, 'until T')).toMatchInlineSnapshot(`
    "
      ○ main  START.md  waits for the usage limit until T

    usage limit of scripted: 1:02:02 left, until T
    flow-00000000 · 0:01 · $0.00 of $10.00 · 0 running
    1 waits for the usage limit
    "
  `);
});

test.each(['drain', 'now'] as const)('a run that stops (%s)', (how) => {
  const stage = makeRun({ START: [] });
  stage.start();
  stage.stop(how);
  const texts = { drain: 'running ones may finish', now: 'running steps are stopped' };
  expect(shown(stage)).toContain(`stopping: `);
  expect(shown(stage)).toContain(texts[how]);
});

test('agents have the order of their creation, also after a resume', () => {
  const stage = makeRun({ START: [], NEXT: [], A: [], B: [] });
  stage.turn(`${'<fork next="NEXT">B</fork>'.repeat(9)}<fork next="NEXT">A</fork>`);
  const names = (view: View) =>
    screenRows(view, { width: 80, height: 40, now: 0, doing: new Map() }).rows.flatMap(
      ({ pieces: [, first] }) => (first?.text.startsWith('main') ? [first.text] : []),
    );
  const numbers = Array.from({ length: 9 }, (_, i) => `main_b${i + 1}`);
  expect(names(viewAfter(stage))).toEqual(['main', ...numbers, 'main_a10']);
});

test('the cost grows during a turn, of the agent and of the run', () => {
  const stage = makeRun({ START: [] });
  stage.start();
  const doing = (spentUsd: number) => ({
    doing: new Map([['main', { agent: 'main', step: 1, spentUsd }]]),
  });
  expect(shown(stage, doing(0.25))).toMatch(/~\$0\.25 .*\n(.|\n)*· ~\$0\.25 of/);
  expect(shown(stage, doing(1.5))).toMatch(/~\$1\.50 .*\n(.|\n)*· ~\$1\.50 of/);
});

test('paths are relative to the directory of the agent', () => {
  const stage = makeRun({ START: [] });
  stage.start();
  const { cwd } = stage.agent();
  const tool = { at: 2, name: 'Read', summary: `${cwd}/src/a.ts` };
  const doing = new Map([['main', { agent: 'main', step: 1, tool }]]);
  expect(shown(stage, { doing })).toContain(' Read src/a.ts ');
});

test('a call is shown as nested', () => {
  const stage = makeRun({ START: [], A: [], B: [], X: [], Y: [] });
  stage.turn('<call return="X">A</call>');
  stage.turn('<call return="Y">B</call>');
  expect(shown(stage)).toContain(' B.md ‹ Y ‹ X ');
});

test('hundreds of agents: the summary counts those that wait by reason', () => {
  const stage = makeRun({ START: [], WORK: [], COLLECT: [], DONE: [], GO: [] });
  stage.turn('<fork next="COLLECT">WORK</fork>'.repeat(300));
  stage.turn('<join>DONE</join>');
  for (let i = 1; i <= 30; i++) stage.turn('<ask next="GO">Well?</ask>', `main_work${i}`);
  for (const [id] of stage.run.agents) stage.start(id);
  const lines = shown(stage, { width: 140 }).split('\n');
  expect(lines.filter((line) => line.includes('? main_work'))).toHaveLength(12);
  expect(lines.join('\n')).toMatch(
    /and 289 more: \d+ running, 18 ask you, \d+ wait for a place \(\d+ of \d+ busy\), 1 for its child agents/,
  );
});

test('a chosen agent is marked, and always shown', () => {
  const stage = makeRun({ START: [], WORK: [], COLLECT: [] });
  stage.turn('<fork next="COLLECT">WORK</fork>'.repeat(60));
  expect(shown(stage, { chosen: 'main_work57' })).toMatch(/^❯ . main_work57 /m);
});

test('a new step does not show what the last one did', () => {
  const stage = makeRun({ START: [], NEXT: [] });
  stage.start();
  const doing = new Map([['main', { ...DOING, agent: 'main', step: 1 }]]);
  expect(shown(stage, { doing })).toContain('Bash npm run test');
  stage.end('<goto>NEXT</goto>');
  stage.start();
  expect(shown(stage, { doing })).not.toContain('Bash');
});
