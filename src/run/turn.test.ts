import { expect, test, vi } from 'vitest';
import { makeRun, type Stage, state } from '../../test/make-run.ts';
import { stagePorts } from '../../test/stage-ports.ts';
import { scriptedAgent } from '../execute/rehearsal/scripted.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Executor, Journal } from '../ports.ts';
import { holdAlone } from './hold-alone.ts';
import { Inbox } from './inbox.ts';
import { Steps } from './steps.ts';
import { takeTurns } from './turn.ts';

/** Runs a workflow; returns what was written, done and shown, in order. */
function observed(
  append: Journal['append'] = async () => {},
  stage: Stage = makeRun({ START: [] }),
  answer: (state: string) => string = () => '<result>x</result>',
) {
  const log: string[] = [];
  const inbox = new Inbox<Input>();
  const scripted = scriptedAgent((step) => {
    log.push('executed');
    return answer(step.state);
  });
  const agent: Executor = {
    ...scripted,
    start: (step, live) => {
      log.push(`start ${step.state}`);
      return scripted.start(step, live);
    },
    prepare: ({ state }) => void log.push(`prepare ${state}`),
  };
  const clock = { now: () => stage.now++, at: () => () => {} };
  class LoggedSteps extends Steps {
    override act(...args: Parameters<Steps['act']>): void {
      log.push(`act on ${args[0].type}`);
      super.act(...args);
    }
  }
  const steps = new LoggedSteps(inbox, {
    ...stagePorts(stage),
    executors: { prompt: agent, script: agent },
    clock,
    live: () => {},
  });
  const journal: Journal = {
    append: async (events, after) => {
      await append(events, after);
      log.push(...events.map(({ type }) => `write ${type}`));
    },
  };
  const { hold } = holdAlone(stage.run, inbox, { workflows: steps.workflows, journal, clock });
  const observer = { event: ({ type }: RunEvent) => void log.push(`show ${type}`) };
  const ports = { hold, observer, steps, newId: () => 's1', attended: () => false, patient: true };
  const ended = takeTurns(ports, inbox).finally(() => steps.close());
  return { log, ended };
}

test('an event is on disk before it is acted on, and acted on before it is shown', async () => {
  const { log, ended } = observed();
  expect((await ended).status).toEqual({ kind: 'ended', outcome: 'completed' });
  expect(log.slice(0, 5)).toEqual([
    'write step-started',
    'act on step-started',
    'show step-started',
    expect.stringMatching(/^start /),
    'executed',
  ]);
  expect(log.at(-1)).toBe('show run-ended');
});

test('an event that cannot be journaled is neither acted on nor shown', async () => {
  const { log, ended } = observed(() => Promise.reject(new Error('disk full')));
  await expect(ended).rejects.toThrow('disk full');
  expect(log).toEqual([]);
});

const two = () => makeRun({ 'START.sh': [], 'NEXT.sh': [] });
const thenNext = (state: string) =>
  state === 'START.sh' ? '<goto>NEXT</goto>' : '<result>x</result>';

/** Lets the second start of a step wait until it has been prepared. */
const slowly =
  (logged: () => readonly string[], end: () => void = () => {}): Journal['append'] =>
  async ([first]) => {
    if (first?.type !== 'step-ended' || logged().includes('show run-ended')) return;
    if (logged().filter((line) => line === 'executed').length > 1) return;
    await vi.waitFor(() => expect(logged()).toContain('prepare NEXT.sh'), { timeout: 60_000 });
    end();
  };

test('a script is prepared while its start is being written, and starts afterwards', async () => {
  const play = observed(
    slowly(() => play.log),
    two(),
    thenNext,
  );
  expect((await play.ended).result).toBe('x');
  const lines = play.log.filter((line) => /^(prepare|write step-started|executed)/.test(line));
  expect(lines).toEqual([
    'write step-started',
    'executed',
    'prepare NEXT.sh',
    'write step-started',
    'executed',
  ]);
  // To show takes time, so it follows the start.
  expect(play.log.lastIndexOf('start NEXT.sh')).toBeLessThan(play.log.indexOf('show step-ended'));
});

test('a script that was prepared never starts if its start cannot be written', async () => {
  const fail = () => {
    throw new Error('disk full');
  };
  const play = observed(
    slowly(() => play.log, fail),
    two(),
    thenNext,
  );
  await expect(play.ended).rejects.toThrow('disk full');
  expect(play.log.filter((line) => line === 'executed')).toHaveLength(1);
});

test('the state that a step executes is determined once', async () => {
  const judged = state(
    'evaluators: [{prompt: JUDGE, expect: "YES", then: {tag: goto, target: END}}]',
  );
  const stage = makeRun({ START: judged, JUDGE: [], END: [] });
  const own = stage.workflows('/flow')?.states.get(stage.agent().state);
  const evaluator = own?.kind === 'prompt' ? own.policy.evaluators[0] : undefined;
  if (evaluator?.kind !== 'prompt') throw new Error('The state has a judge.');
  // Only to determine the state of a step does the language read which state judges.
  let reads = 0;
  const { state: judge } = evaluator;
  Object.defineProperty(evaluator, 'state', {
    get() {
      reads += 1;
      return judge;
    },
  });
  // The judge is reminded twice, so it takes three steps.
  const answers = ['<result>x</result>', 'Hm.', 'Hm.', '<result>NO</result>', '<result>y</result>'];
  const states: string[] = [];
  const { ended } = observed(undefined, stage, (name) => {
    states.push(name);
    return answers[states.length - 1] ?? '';
  });
  expect((await ended).result).toBe('y');
  expect(states).toEqual(['START.md', 'JUDGE.md', 'JUDGE.md', 'JUDGE.md', 'END.md']);
  expect(reads).toBe(3);
});

test('the settings of a resume apply to the steps that it adopts', async () => {
  const stage = makeRun({ START: [] });
  stage.start();
  const log: string[] = [];
  const inbox = new Inbox<Input>();
  const settings = { ...stage.run.settings, agent: { permissionMode: 'plan' } };
  inbox.put({ kind: 'resume', at: stage.now, settings, input: undefined });
  const agent = scriptedAgent(() => '<result>x</result>');
  const adopting: Executor = {
    ...agent,
    adopt: (step, live, ask) => {
      log.push(`adopt under ${step.kind === 'prompt' ? step.choices.permissionMode : ''}`);
      return agent.start(step, live, ask);
    },
  };
  const clock = { now: () => stage.now++, at: () => () => {} };
  const steps = new Steps(inbox, {
    ...stagePorts(stage),
    executors: { prompt: adopting, script: agent },
    clock,
    live: () => {},
  });
  const journal: Journal = {
    append: async (events) => void log.push(...events.map(({ type }) => `write ${type}`)),
  };
  const { hold } = holdAlone(stage.run, inbox, { workflows: steps.workflows, journal, clock });
  const ports = { hold, steps, observer: { event: () => {} }, newId: () => 's2' };
  await takeTurns({ ...ports, attended: () => false, patient: true }, inbox);
  await steps.close();
  expect(log.slice(0, 2)).toEqual(['write run-resumed', 'adopt under plan']);
});
