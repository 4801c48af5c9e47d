// A workflow that compacts at every depth of the stack is cut off after each of its decisions, and resumed: by
// an agent that has not begun, that has answered meanwhile, or that died. Also rewound to each of its steps.
import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { Past } from '../../src/interpret/past.ts';
import { planRewind } from '../../src/interpret/plan-rewind.ts';
import type { JournaledEvent, RunEvent, RunEventOf } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { NO_COST } from '../../src/model/step-account.ts';
import type { Executor, RunningStep, Step, StepOutcome } from '../../src/ports.ts';
import { playRun } from '../../src/workflow-tests/play.ts';
import { makeRun } from '../make-run.ts';
import { COMPACTING, inAnyOrder, SAYS, SEEN } from '../real-agent/compact-play.ts';
import { stagePorts } from '../stage-ports.ts';

const stage = makeRun(
  Object.fromEntries(
    Object.entries(COMPACTING).map(([name, text]) => [
      name.replace('.md', ''),
      {
        text: name === 'workflow.yaml' ? text : `---\non_interrupt: restart\n---\n${text}`,
        answers: [],
      },
    ]),
  ),
);

/** What a model has answered, and the sessions that it has: they outlive Raymond. */
interface Memory {
  readonly seen: readonly (readonly string[])[];
  /** The messages of each session, and their number at each checkpoint. */
  readonly sessions: ReadonlyMap<string, readonly string[]>;
  readonly cuts: ReadonlyMap<string, number>;
  readonly outcomes: ReadonlyMap<string, StepOutcome>;
}

class Model implements Memory {
  readonly seen: (readonly string[])[];
  readonly sessions: Map<string, readonly string[]>;
  readonly cuts: Map<string, number>;
  readonly outcomes: Map<string, StepOutcome>;
  readonly #agentDied: boolean;

  constructor({ seen, sessions, cuts, outcomes }: Memory = NOTHING, agentDied = false) {
    this.seen = [...seen];
    this.sessions = new Map(sessions);
    this.cuts = new Map(cuts);
    this.outcomes = new Map(outcomes);
    this.#agentDied = agentDied;
  }

  get executor(): Executor {
    const begin = (step: Step): RunningStep => over(this.#answer(step));
    const adopt = (step: Step): RunningStep => {
      const known = this.outcomes.get(keyOf(step));
      return over(known ?? (this.#agentDied ? this.#die(step) : this.#answer(step)));
    };
    return { name: 'scripted', start: begin, adopt, close: async () => {} };
  }

  #answer(step: Step): StepOutcome {
    if (step.kind !== 'prompt') throw new Error('There are only prompts.');
    const { session, prompt } = step;
    const asked = [...this.#history(session), `user: ${prompt}`];
    this.seen.push(asked);
    const [, answer = ''] = Object.entries(SAYS).find(([words]) => prompt.includes(words)) ?? [];
    const messages = [...asked, `assistant: ${answer}`];
    this.sessions.set(session.id, messages);
    const checkpoint = `${session.id} ${messages.length}`;
    this.cuts.set(checkpoint, messages.length);
    const account = {
      cost: { usd: 0.01, from: 'told' },
      session: { id: session.id, checkpoint },
    } as const;
    const outcome = { kind: 'answered', output: answer, denied: [], account } as const;
    this.outcomes.set(keyOf(step), outcome);
    return outcome;
  }

  /** The question is in no session, and nothing of it was answered. */
  #die(step: Step): StepOutcome {
    if (step.kind === 'prompt') this.seen.push(['died']);
    return { kind: 'interrupted', sessionUsable: true, account: { cost: NO_COST } };
  }

  #history(session: Extract<Step, { kind: 'prompt' }>['session']): readonly string[] {
    if (session.use === 'fresh') return [];
    const from = session.use === 'branch' ? session.from : session.id;
    const messages = this.sessions.get(from) ?? [];
    const cut =
      session.use === 'branch' && session.at !== undefined ? this.cuts.get(session.at) : undefined;
    return messages.slice(0, cut);
  }
}

const NOTHING: Memory = { seen: [], sessions: new Map(), cuts: new Map(), outcomes: new Map() };
const keyOf = ({ agent, number }: Step) => `${agent}:${number}`;
const over = (outcome: StepOutcome): RunningStep => ({
  outcome: Promise.resolve(outcome),
  stop: () => {},
});

interface Cut {
  readonly event: RunEvent;
  readonly run: Run;
  /** What the model had seen when the event was stored. */
  readonly memory: Memory;
}

async function playOn(beginning: Parameters<typeof playRun>[0], model: Model, replies: string[]) {
  const cuts: Cut[] = [];
  const { library, ground, folders } = stagePorts(stage);
  const { executor } = model;
  const begun = 'resume' in beginning ? beginning.resume : undefined;
  let run = begun ?? apply(newRun, started);
  const played = await playRun(beginning, {
    ...{ library, ground, folders, replies, executors: { prompt: executor, script: executor } },
    journaled: (events) => {
      for (const event of events) {
        run = apply(run, event);
        // An append is atomic, so nothing is cut off between the end of a step and what follows from it.
        const isDecided = [...run.agents].every(([, { status }]) => status.kind !== 'deciding');
        if (isDecided) cuts.push({ event, run, memory: new Model(model) });
      }
    },
  });
  return { ...played, cuts };
}

const [begins] = stage.events;
if (begins?.type !== 'run-started') throw new Error('A stage begins with the start of a run.');
const started: RunEventOf<'run-started'> = begins;
const { type: _, version: __, at: ___, ...start } = started;
const whole = new Model();

test('cut off after each decision, the run ends the same, and its model sees the same', async () => {
  const full = await playOn({ start }, whole, ['yes']);
  expect(whole.seen).toEqual(SEEN);
  expect(full.run.result).toBe('all done');
  expect(full.cuts.length).toBeGreaterThan(30);
  for (const [at, { event, run, memory }] of full.cuts.entries()) {
    for (const way of ['not begun', 'answered', 'died'] as const) {
      const model = new Model(memory, way === 'died');
      // The agent worked on after the kill, and answered before the resume.
      if (way === 'answered') await answerOpenSteps(run, model);
      const { settings } = run;
      const resumed = await playOn({ resume: run, settings, input: undefined }, model, ['yes']);
      const told = `cut ${at}: ${event.type}, ${way}`;
      expect(resumed.run.result, told).toBe('all done');
      const seen = model.seen.filter(([first]) => first !== 'died');
      expect(inAnyOrder(seen), told).toEqual(inAnyOrder(SEEN));
      const paid = seen.length * 0.01;
      expect(resumed.run.totalCostUsd, told).toBeCloseTo(paid, 6);
    }
  }
});

test('rewound to each step, the run asks again with the same histories', async () => {
  const full = await playOn({ start }, new Model(), ['yes']);
  const all: JournaledEvent[] = [started, ...full.events.slice(1)].map((event, index) => ({
    ...event,
    seq: index + 1,
  }));
  const memory = full.cuts.at(-1)?.memory;
  const last = full.run;
  const steps = all.flatMap((event) => (event.type === 'step-started' ? [event] : []));
  expect(steps).toHaveLength(SEEN.length);
  for (const { agent, step } of steps) {
    const past = new Past({ kind: 'to', agent, step });
    let run: Run | undefined;
    for (const event of all) {
      past.follow(event, run);
      run = apply(run ?? newRun, event);
    }
    const facts = { at: last.updatedAt + 1, rootOf: () => undefined };
    const planned = planRewind(past, last, { kind: 'to', agent, step }, facts);
    if (!planned.ok) throw new Error(`${agent}:${step} ${planned.problem}`);
    const back = apply(last, { ...planned.plan.event, files: [] });
    const model = new Model({ ...(memory ?? NOTHING), seen: [], outcomes: new Map() });
    const { settings } = back;
    const again = await playOn({ resume: back, settings, input: undefined }, model, ['yes']);
    expect(again.run.result, `${agent}:${step}`).toBe('all done');
    const first = SEEN[steps.findIndex((one) => one.agent === agent && one.step === step)];
    expect(model.seen[0], `${agent}:${step}`).toEqual(first);
    const known = new Set(SEEN.map((lines) => lines.join('\n')));
    expect(model.seen.filter((lines) => !known.has(lines.join('\n')))).toEqual([]);
  }
});

/** Lets the agent end what it has begun, without Raymond. */
async function answerOpenSteps(run: Run, model: Model): Promise<void> {
  const { stepOf } = await import('../../src/run/step-of.ts');
  const { library, folders } = stagePorts(stage);
  for (const [, agent] of run.agents) {
    if (agent.status.kind !== 'running') continue;
    const step = await stepOf({ library, folders }, run, agent, agent.status);
    if (!model.outcomes.has(keyOf(step))) await model.executor.start(step, () => {}).outcome;
  }
}
