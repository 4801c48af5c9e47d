/** Random histories of a run: actions of agents, people, timers and signals, in any order. */
import fc from 'fast-check';
import type { StepReport } from '../../src/model/input.ts';
import { failed, interrupted, makeRun, type Stage, state } from '../make-run.ts';
import { rewindStage, stepsOf } from '../rewound-run.ts';

const flow = {
  START: [],
  N: [],
  'S.sh': [],
  POLICED: state(
    'max_visits: 3\nnotes: write\nallowed_transitions: [{ tag: goto, target: N }, { tag: fork, target: N }, { tag: fork, target: JUDGED, next: N, item: a }]',
  ),
  JUDGED: state(`evaluators:
  - { matches: out, then: { tag: result, payload: gone } }
  - { prompt: N, expect: "YES", then: { tag: goto, target: POLICED } }`),
};
const others = { '/sub': { START: [], N: [] } };

const OUTPUTS = [
  '<goto>N</goto>',
  '<goto input="{{result}}">JUDGED</goto>',
  'out <goto>POLICED</goto>',
  '<goto>NOWHERE</goto>',
  '<reset cd="d">START</reset>',
  '<compact input="v">N</compact>',
  '<compact>S</compact>',
  '<call return="N">S</call>',
  '<function return="POLICED" model="haiku">JUDGED</function>',
  '<fork next="N" item="a">JUDGED</fork>',
  '<fork>N</fork><fork cd="d">S</fork><goto>START</goto>',
  '<fork>N</fork><fork item="b">S</fork><join>JUDGED</join>',
  '<fork>N</fork><fork>S</fork><fork>N</fork><join of="any" failed_next="N">N</join>',
  '<fork>N</fork><fork>S</fork><fork>N</fork><join of="2" rest="continue">S</join>',
  '<fork>POLICED</fork><fork>S</fork><join rest="stop" timeout="1h" timeout_next="S">N</join>',
  '<join>N</join>',
  '<join of="any" timeout="1h" timeout_next="S">N</join>',
  '<fork worktree="true" next="N">JUDGED</fork>',
  '<fork worktree="tree" base="N">S</fork><fork worktree="Tree">N</fork><goto>N</goto>',
  '<fork worktree="other" base="missing" next="N">S</fork>',
  '<ask next="N">?</ask>',
  '<ask next="N" timeout="1h" timeout_next="JUDGED">?</ask>',
  '<result>YES</result>',
  '<result>{{result}}</result>',
  '<call-workflow return="N">/sub</call-workflow>',
  '<fork-workflow next="N">/sub</fork-workflow>',
  '<reset-workflow>/sub</reset-workflow>',
  'nothing',
];

const cost = fc.nat(60).map((cents) => cents / 100);
const notes = fc.dictionary(
  fc.constantFrom('a.md', 'b/c.md', 'lessons/d.md', 'constructor'),
  fc.option(fc.string().map((text) => ({ text, sha256: text }))),
  { maxKeys: 3 },
);
/** More results, so that children end. */
const report: fc.Arbitrary<string | StepReport> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...OUTPUTS) },
  { weight: 2, arbitrary: fc.constant('<result>done</result>') },
  fc
    .tuple(fc.constantFrom('crashed', 'usage-limit', 'no-credit', 'script-failed'), cost)
    .map(([kind, usd]) => failed(kind, usd)),
  fc.tuple(fc.boolean(), cost).map(([usable, usd]) => interrupted(usable, usd)),
  notes.map((changed): StepReport => {
    const report = interrupted();
    return { ...report, account: { ...report.account, notes: changed } };
  }),
);

type Act = (stage: Stage, agent: string) => unknown;

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 24, arbitrary: fc.tuple(report, cost).map(turn) },
  { weight: 4, arbitrary: fc.constant<Act>((stage, agent) => stage.start(agent)) },
  fc.nat(5_000_000).map(
    (later): Act =>
      (stage, agent) =>
        stage.handle({ kind: 'time-came', at: stage.now + later, agent }),
  ),
  fc.constant<Act>((stage, agent) => {
    const status = stage.run.agents.get(agent)?.status;
    const askedAt = status?.kind === 'asking' ? status.askedAt : 0;
    stage.handle({ kind: 'person-answered', at: stage.now, agent, askedAt, text: 'blue' });
  }),
  fc.constant<Act>((stage) => stage.handle({ kind: 'usage-limit-over', at: stage.now + 10 ** 8 })),
  fc.option(fc.constant('it has commits'), { nil: undefined }).map(
    (kept): Act =>
      (stage) => {
        for (const [agent] of stage.run.endedAgents)
          stage.handle({ kind: 'worktree-settled', at: stage.now, agent, kept });
      },
  ),
  fc.constant<Act>((stage) => stage.idle()),
  fc.constantFrom('drain', 'now').map(
    (how): Act =>
      (stage) =>
        stage.stop(how),
  ),
  fc.nat().map(
    (pick): Act =>
      (stage) => {
        const steps = stepsOf(stage);
        const to = steps[pick % Math.max(1, steps.length)];
        if (to) rewindStage(stage, { kind: 'to', ...to });
      },
  ),
  fc.constant<Act>((stage) => rewindStage(stage, { kind: 'undo' })),
  {
    weight: 2,
    arbitrary: cost.map(
      (usd): Act =>
        (stage) =>
          stage.resume({ budgetUsd: usd * 9 }),
    ),
  },
);

function turn([outcome, usd]: [string | StepReport, number]): Act {
  return (stage, agent) => {
    if (stage.run.agents.get(agent)?.status.kind !== 'running') stage.start(agent);
    if (stage.run.agents.get(agent)?.status.kind === 'running') stage.end(outcome, agent, usd);
  };
}

/** A stage after all these actions. */
export const journey: fc.Arbitrary<Stage> = fc
  .array(fc.tuple(act, fc.nat(20)), { minLength: 10, maxLength: 60, size: 'max' })
  .map((acts) => {
    const stage = makeRun(flow, { others, settings: { budgetUsd: 9, maxIterations: 40 } });
    for (const [happen, pick] of acts) {
      const ids = [...stage.run.agents].map(([id]) => id);
      happen(stage, ids[pick % Math.max(1, ids.length)] ?? 'main');
    }
    return stage;
  });
