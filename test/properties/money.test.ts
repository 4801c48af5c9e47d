/** Whatever turns cost, whenever a process dies: a run moves on while it has money, and keeps its budget. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Input, StepReport } from '../../src/model/input.ts';
import { Decider } from '../../src/run/decider.ts';
import { answered, failed, interrupted, makeRun, type Stage, state } from '../make-run.ts';

const flow = {
  START: [],
  WORK: [],
  RESTART: state('on_interrupt: restart'),
  JUDGED: state(`evaluators:
  - { prompt: WORK, expect: "YES", then: { tag: goto, target: WORK } }`),
  'S.sh': [],
};

const ANSWERS = [
  '<goto>WORK</goto>',
  '<goto>RESTART</goto>',
  '<goto>JUDGED</goto>',
  '<goto>S</goto>',
  '<fork>WORK</fork><fork>RESTART</fork><join failed_next="WORK">WORK</join>',
  '<fork>WORK</fork><fork>S</fork><fork>JUDGED</fork><goto>WORK</goto>',
  '<ask next="WORK">?</ask>',
  '<result>YES</result>',
  '<result>YES</result>',
  '<result>YES</result>',
];

/** The most that one call costs: a cap is noticed only after it. */
const CALL_USD = 0.2;

const cents = fc.nat(20).map((count) => count / 100);

type Play = (game: Game) => void;

interface Game {
  readonly stage: Stage;
  decider: Decider;
  decide(...inputs: readonly Input[]): void;
}

function gameOf(budgetUsd: number, places: number): Game {
  const settings = { budgetUsd, maxParallelPrompts: places, maxParallelScripts: 2, maxAgents: 30 };
  const stage = makeRun(flow, { settings });
  let sessions = 0;
  const game: Game = {
    stage,
    decider: new Decider(stage.workflows, stage.run),
    decide: (...inputs) => {
      stage.now += 1000;
      game.decider.decide(inputs, {
        at: stage.now,
        newId: () => `s${++sessions}`,
        executors: { script: 'scripted' },
        worker: undefined,
        startsHere: () => true,
        attended: false,
        patient: true,
      });
      stage.run = game.decider.run;
    },
  };
  game.decide();
  return game;
}

const running = ({ stage }: Game) =>
  [...stage.run.agents].flatMap(([id, agent]) =>
    agent.status.kind === 'running' ? [{ id, agent, status: agent.status }] : [],
  );

/** Ends a running step with an answer, or at its cap, or otherwise. */
const ending: fc.Arbitrary<Play> = fc
  .tuple(
    fc.nat(),
    fc.nat(ANSWERS.length - 1),
    fc.nat(9),
    fc.double({ min: 0, max: 1, noNaN: true }),
    cents,
  )
  .map(([which, answer, how, share, last]) => (game) => {
    const { stage } = game;
    const found = running(game);
    const one = found[which % Math.max(1, found.length)];
    if (!one) return;
    const { id, agent, status } = one;
    const part = status.reservedUsd ?? 0;
    const isTurn = status.session !== undefined;
    const usd = isTurn ? Math.round(share * part * 1e6) / 1e6 : 0;
    const outcome: StepReport =
      isTurn && how < 3
        ? interrupted(true, part + last)
        : isTurn && how === 3
          ? failed('crashed', usd)
          : isTurn && how === 4
            ? failed('usage-limit', usd, { resetsAt: stage.now + 60_000 })
            : answered(stage, agent, ANSWERS[answer] ?? '', usd);
    const input = { kind: 'step-ended', at: stage.now, agent: id, step: status.step } as const;
    game.decide({ ...input, outcome });
  });

/** A process dies and another one continues, with or without its steps. */
const crash: fc.Arbitrary<Play> = fc.boolean().map((adopts) => (game) => {
  game.decider = new Decider(game.stage.workflows, game.stage.run);
  if (adopts) return game.decide();
  const lost = running(game).map(({ id, status: { step } }) => {
    const outcome = interrupted(true, 0);
    return { kind: 'step-ended', at: game.stage.now, agent: id, step, outcome } as const;
  });
  game.decide(...lost);
});

const permission: fc.Arbitrary<Play> = fc.nat().map((which) => (game) => {
  const turns = running(game).filter(({ status }) => status.session !== undefined);
  const one = turns[which % Math.max(1, turns.length)];
  if (!one) return;
  const { id: agent, status } = one;
  const { step, requests } = status;
  const at = game.stage.now;
  const request = { request: 'r1', tool: 'Bash', summary: 'ls', input: '{}' };
  const [open] = requests;
  game.decide(
    open
      ? { kind: 'permission-decided', at, agent, step, request: open.request, decision: 'allow' }
      : { kind: 'permission-requested', at, agent, step, request },
  );
});

const time: fc.Arbitrary<Play> = fc.constant((game) => {
  const { stage } = game;
  stage.now += 100_000_000;
  const woken = [...stage.run.agents].map(
    ([agent]) => ({ kind: 'time-came', at: stage.now, agent }) as const,
  );
  game.decide({ kind: 'usage-limit-over', at: stage.now }, ...woken);
});

/** A person stops the run, or continues it with another budget, which may be lower than its cost. */
const resume: fc.Arbitrary<Play> = fc.constantFrom(0.1, 1, 5).map((budgetUsd) => (game) => {
  const { status, settings } = game.stage.run;
  const at = game.stage.now;
  if (status.kind !== 'ended') return game.decide({ kind: 'stop', at, how: 'drain' });
  game.decide({ kind: 'resume', at, settings: { ...settings, budgetUsd }, input: undefined });
});

const play = fc.oneof(
  { weight: 12, arbitrary: ending },
  { weight: 1, arbitrary: crash },
  { weight: 2, arbitrary: permission },
  { weight: 1, arbitrary: time },
  { weight: 1, arbitrary: resume },
);

test('a run never waits for nobody, and spends no more than its budget and one call of each turn', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0.03, 0.3, 1, 2.5, 10),
      fc.integer({ min: 1, max: 6 }),
      fc.array(play, { maxLength: 60 }),
      (budgetUsd, places, plays) => {
        const game = gameOf(budgetUsd, places);
        let most = 1;
        let highest: number = budgetUsd;
        for (const one of plays) {
          one(game);
          const { run } = game.stage;
          const { tally, status, limits } = run;
          most = Math.max(most, tally.promptsRunning);
          highest = Math.max(highest, run.settings.budgetUsd);
          expect(run.totalCostUsd).toBeLessThanOrEqual(highest + most * CALL_USD + 1e-6);
          if (tally.promptsRunning === 0) expect(tally.reservedUsd).toBe(0);
          if (status.kind !== 'active' || tally.waiting > 0) continue;
          const isHeld = tally.asksPermission > 0 || Object.keys(limits).length > 0;
          const works = tally.promptsRunning + tally.scriptsRunning;
          if (!isHeld && works === 0) expect(tally.ready).toBe(0);
        }
      },
    ),
    { numRuns: 400 },
  );
});
