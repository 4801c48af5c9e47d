import { expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage, state } from '../../test/make-run.ts';
import { scriptedAgent } from '../execute/rehearsal/scripted.ts';
import type { Input, StepReport } from '../model/input.ts';
import { UserError } from '../model/user-error.ts';
import type { Step } from '../ports.ts';
import { Inbox } from './inbox.ts';
import { Steps, type StepsPorts } from './steps.ts';

const flow = {
  START: state(
    'model: sonnet\ntimeout: 5\nallowed_transitions: [{ tag: goto, target: N }, { tag: goto, target: S }, { tag: result }]',
  ),
  N: [],
  'S.sh': [],
};

/** Launches the started step of an agent; returns the step, and the input of its end. */
async function launch(stage: Stage, answer = '') {
  const { launched, ended } = await outcomeOf(stage, answer);
  const [step] = launched;
  if (!step) throw new Error('no step was launched');
  return { step, ended };
}

async function outcomeOf(stage: Stage, answer = '', more: Partial<StepsPorts> = {}) {
  const launched: Step[] = [];
  const inbox = new Inbox<Input>();
  const executor = scriptedAgent((step) => {
    launched.push(step);
    return answer;
  });
  const steps = new Steps(inbox, {
    library: {
      get: stage.workflows,
      load: async (path) => {
        throw new UserError('no-workflow', `There is no workflow at ${path}.`, 'Name another.');
      },
      pathOf: (_ref, file) => file,
      filesOf: () => [],
      scriptFolder: async (ref) => ref,
    },
    executors: { prompt: executor, script: executor },
    ground: {
      findDirectory: async (path, from) => ({
        found: true,
        path: `${from}/${path}`,
        inProject: true,
      }),
      lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
      entryDigest: async (input) => `${input}`,
      environment: new Set(['shell_level']),
    },
    folders: {
      step: (agent, n) => `/steps/${agent}/${n}`,
      task: (agent) => `/tasks/${agent}`,
      hasBegun: () => false,
      notes: { put: () => {}, read: () => undefined, remove: () => {}, digest: () => '' },
      put: () => {},
    },
    clock: { now: () => stage.now, at: () => () => {} },
    live: () => {},
    ...more,
  });
  const [event] = stage.start();
  if (!event) throw new Error('no step has started');
  steps.act(event, stage.run);
  const [ended] = await inbox.take();
  await steps.close();
  if (ended?.kind !== 'step-ended') throw new Error('no step has ended');
  return { launched, ended };
}

const again = (stage: Stage) =>
  stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });

test.each<[string, readonly (string | StepReport)[], string | undefined]>([
  ['the first attempt', [], undefined],
  ['a second attempt', [failed('crashed')], '/steps/main/1'],
  ['a state that restarts', [interrupted(false)], '/steps/main/1'],
  ['a continuation', [interrupted()], undefined],
  ['a second attempt at a continuation', [interrupted(), failed('crashed')], '/steps/main/2'],
  ['a reminder', ['What?'], undefined],
  ['a reminder after a second attempt', [failed('crashed'), 'What?'], undefined],
  ['a second attempt at a reminder', ['What?', failed('crashed')], '/steps/main/2'],
  ['the next state', [failed('crashed'), '<goto>N</goto>'], undefined],
])('%s names the attempt that it repeats, if any', async (_, before, previousFolder) => {
  const stage = makeRun(flow);
  for (const report of before) {
    stage.turn(report);
    again(stage);
  }
  expect((await launch(stage)).step).toMatchObject({ kind: 'prompt', previousFolder });
});

test('a prompt step has the choices of its state, and otherwise those of the run', async () => {
  const stage = makeRun(flow, {
    settings: { agent: { model: 'opus', effort: 'high' }, budgetUsd: 2 },
  });
  expect((await launch(stage, '<goto>N</goto>')).step).toMatchObject({
    choices: { model: 'sonnet', effort: 'high' },
    idleTimeoutMs: 5_000,
    budgetUsd: 2,
    cwd: '/project',
    folder: '/steps/main/1',
    session: { use: 'fresh', id: 's1' },
  });
});

test.each([
  // mode of the run, whether it skips permissions, mode of the state; then the same for the step
  ['acceptEdits', false, 'plan', 'plan', false],
  ['plan', false, 'acceptEdits', 'plan', false],
  ['default', false, 'acceptEdits', 'default', false],
  ['acceptEdits', false, 'dontAsk', 'dontAsk', false],
  ['auto', false, 'acceptEdits', 'acceptEdits', false],
  ['acceptEdits', true, 'plan', 'plan', false],
])('a run in %s (skips: %s) with a state in %s', async (ofRun, skips, ofState, mode, skipped) => {
  const start = state(
    `permission_mode: ${ofState}\nallowed_tools: [Read]\ndisallowed_tools: [Bash]`,
  );
  const settings = { agent: { permissionMode: ofRun, skipPermissions: skips } };
  const stage = makeRun({ ...flow, START: start }, { settings });
  expect((await launch(stage, '<goto>N</goto>')).step).toMatchObject({
    choices: {
      permissionMode: mode,
      skipPermissions: skipped,
      // A stricter mode of the run also means that the user did not agree to these tools.
      allowedTools: ['plan', 'default'].includes(ofRun) ? [] : ['Read'],
      disallowedTools: ['Bash'],
    },
  });
});

test('a state without permissions has those of the run', async () => {
  const agent = { permissionMode: 'auto', skipPermissions: true };
  const stage = makeRun(flow, { settings: { agent } });
  expect((await launch(stage, '<goto>N</goto>')).step).toMatchObject({
    choices: { ...agent, allowedTools: [], disallowedTools: [] },
  });
});

test('the choices of a function override the others for that step', async () => {
  const stage = makeRun({ ...flow, START: [], F: flow.START });
  stage.turn('<function return="N" model="haiku" effort="low">F</function>');
  expect((await launch(stage)).step).toMatchObject({
    choices: { model: 'haiku', effort: 'low' },
  });
});

test('a script step has its value and its variables', async () => {
  const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
  stage.turn('<goto input="v">S</goto>');
  expect((await launch(stage, '<result>x</result>')).step).toMatchObject({
    kind: 'script',
    file: '/flow/S.sh',
    input: 'v',
    environment: { RAYMOND_STATE: 'S.sh', RAYMOND_ATTEMPT: '1' },
  });
});

test('the end of a step brings the facts that its tags need', async () => {
  const stage = makeRun(flow);
  const { ended } = await launch(
    stage,
    '<reset cd="d">N</reset> <reset-workflow>w</reset-workflow>',
  );
  const { outcome } = ended;
  if (outcome.kind !== 'answered') throw new Error('no answer');
  expect(outcome.facts.directories.get('d')).toEqual({
    found: true,
    path: '/project/d',
    inProject: true,
  });
  expect(outcome.facts.environment).toEqual(new Set(['shell_level']));
  expect(outcome.facts.workflows.get('w')).toEqual({
    found: false,
    problem: 'There is no workflow at w. Name another.',
  });
});

test('a step that waited for its files does not begin after others have taken it', async () => {
  let isOver = false;
  const place = {
    toLocal: (path: string) => path,
    toRun: (path: string) => path,
    async enter() {
      isOver = true;
      return undefined;
    },
    leave: async () => undefined,
  };
  const { launched, ended } = await outcomeOf(makeRun(flow), 'done', {
    place,
    isOver: () => isOver,
  });
  expect(launched).toEqual([]);
  expect(ended.outcome.kind).toBe('interrupted');
});

test.each([
  ['ENOSPC', 'not-begun'],
  ['EACCES', 'crashed'],
])('a script that cannot begin because of %s ends as %s', async (code, kind) => {
  const stage = makeRun({ 'START.sh': [] });
  const refuse = () => {
    throw Object.assign(new Error(`${code}: write`), { code });
  };
  const executor = { ...scriptedAgent(() => ''), start: refuse };
  const { ended } = await outcomeOf(stage, '', {
    executors: { prompt: executor, script: executor },
  });
  expect(ended.outcome).toMatchObject({ failure: { kind, message: `${code}: write` } });
});
