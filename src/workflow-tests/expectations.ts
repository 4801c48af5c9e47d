/** Compares the expectations of a test with what happened. */
import { apply } from '../interpret/apply.ts';
import { FIRST_AGENT, newRun } from '../interpret/new-run.ts';
import { laneName } from '../model/agent.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { nearest } from '../parse/nearest.ts';
import { extensionOf, stemOf } from '../parse/state.ts';
import type { Expectations, WorkflowTest } from '../parse/test-file.ts';
import { pathDifference } from './path-difference.ts';
import { readProjectFile } from './project-files.ts';
import { branchIn, committedFile } from './test-repository.ts';

/** One expectation that was not met. */
export interface Problem {
  /** The expectation, as the test file names it. */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
  /** Both values, one below the other; shown instead of them. */
  readonly difference?: string;
  /** Further lines that explain the problem. */
  readonly detail?: string;
}

export interface Prompt {
  readonly state: string;
  readonly text: string;
  /** Whether the test has an answer for it. */
  readonly isAnswered: boolean;
}

interface Happened {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly prompts: readonly Prompt[];
  /** Commands of the test that should have done the work of an agent. */
  readonly failedWork: readonly Problem[];
  readonly cwd: string;
  /** The states of every workflow that took part. */
  readonly states: ReadonlySet<string>;
  readonly departure: string | undefined;
}

export async function findProblems(
  test: WorkflowTest,
  happened: Happened,
): Promise<readonly Problem[]> {
  const expect = test.expect ?? {};
  const outcome = outcomeProblems(expect, happened);
  return [
    ...nameProblems(test, happened.states),
    ...agentProblems(test, happened),
    ...departureProblems(happened),
    ...happened.failedWork,
    ...(outcome.length > 0 ? outcome : unansweredProblems(happened)),
    ...pathProblems(expect, happened),
    ...valueProblems(expect, happened),
    ...resultProblems(expect, happened),
    ...joinProblems(expect, happened),
    ...variableProblems(expect, happened),
    ...promptProblems(expect, happened),
    ...laneProblems(expect, happened),
    ...(await fileProblems(expect, happened)),
    ...(await branchProblems(expect, happened)),
  ];
}

/** The states that an agent visited. A retry, a reminder or a judge is not a new visit. */
export function pathOf(
  events: readonly RunEvent[],
  agent: string = FIRST_AGENT,
): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'step-started' &&
    event.agent === agent &&
    event.task === 'state' &&
    event.attempt === 1
      ? [stemOf(event.state)]
      : [],
  );
}

/** The most frames that an agent had on its stack. */
export function depthOf(events: readonly RunEvent[]): number {
  let run = newRun;
  let deepest = 0;
  for (const event of events) {
    run = apply(run, event);
    if (event.type === 'agent-moved')
      deepest = Math.max(deepest, run.agents.get(event.agent)?.stack.length ?? 0);
  }
  return deepest;
}

function nameProblems(test: WorkflowTest, states: ReadonlySet<string>): readonly Problem[] {
  const known = new Set([...states].flatMap((state) => [state, stemOf(state)]));
  const check = (where: string, names: Iterable<string>) =>
    [...names]
      .filter((name) => !known.has(name))
      .map((name) => {
        const meant = nearest(stemOf(name), [...states].map(stemOf));
        return {
          what: `${where}.${name}`,
          expected: meant ? `a state; did you mean ${meant}?` : 'a state of the workflow',
          got: `no workflow of this test has a state named ${name}`,
        };
      });
  return [
    ...check('answers', Object.keys(test.answers ?? {})),
    ...Object.entries(test.answers_of ?? {}).flatMap(([agent, answers]) =>
      check(`answers_of.${agent}`, Object.keys(answers)),
    ),
    ...check('handovers', Object.keys(test.handovers ?? {})),
    ...check('fills', Object.keys(test.fills ?? {})),
    ...check('expect.prompts', Object.keys(test.expect?.prompts ?? {})),
    ...check('expect.lanes', Object.keys(test.expect?.lanes ?? {})),
  ];
}

/** Answers of an agent that never existed were not used. */
function agentProblems({ answers_of }: WorkflowTest, { events }: Happened): readonly Problem[] {
  const forked = events.flatMap((event) => (event.type === 'agent-forked' ? [event.agent] : []));
  const known = new Set([FIRST_AGENT, ...forked]);
  return Object.keys(answers_of ?? {}).flatMap((agent) =>
    known.has(agent)
      ? []
      : [
          {
            what: `answers_of.${agent}`,
            expected: `an agent: ${[...known].join(', ')}`,
            got: `no agent ${agent} was forked`,
          },
        ],
  );
}

/** Who took each step of a state, also the failed ones. */
function laneProblems({ lanes = {} }: Expectations, { events }: Happened): readonly Problem[] {
  return Object.entries(lanes).flatMap(([state, expected]) => {
    const got = events.flatMap((event) =>
      event.type === 'step-started' &&
      event.lane &&
      [event.state, stemOf(event.state)].includes(state)
        ? [laneName(event.lane)]
        : [],
    );
    if (got.join('\n') === expected.join('\n')) return [];
    return [
      { what: `lanes.${state}`, expected: expected.join(', '), got: got.join(', ') || 'no lanes' },
    ];
  });
}

/** Such a prompt fails its agent, but a join may have handled the failure. */
function unansweredProblems({ prompts }: Happened): readonly Problem[] {
  const states = new Set(prompts.filter((one) => !one.isAnswered).map(({ state }) => state));
  return [...states].map((state) => ({
    what: 'answers',
    expected: `an answer for each execution of ${state}`,
    got: 'none for one of them',
  }));
}

function departureProblems({ departure }: Happened): readonly Problem[] {
  return departure === undefined
    ? []
    : [{ what: 'recorded', expected: 'a run that follows the recording', got: departure }];
}

/** Without this expectation, a test expects the run to complete. */
function outcomeProblems({ outcome = 'completed' }: Expectations, { run, events }: Happened) {
  const got = run.status.kind === 'ended' ? run.status.outcome : run.status.kind;
  if (got === outcome) return [];
  const failures = events.flatMap((event) =>
    event.type === 'agent-failed' ? [`${event.agent}: ${event.failure.message}`] : [],
  );
  return [
    {
      what: 'expect.outcome',
      expected: outcome,
      got,
      ...(failures.length > 0 && { detail: failures.join('\n') }),
    },
  ];
}

function pathProblems({ path, paths }: Expectations, { events }: Happened): readonly Problem[] {
  const wanted = [
    ...(path ? [{ what: 'expect.path', agent: FIRST_AGENT, path }] : []),
    ...Object.entries(paths ?? {}).map(([agent, path]) => ({
      what: `expect.paths.${agent}`,
      agent,
      path,
    })),
  ];
  return wanted.flatMap(({ what, agent, path }) => {
    const expected = path.map(stemOf);
    const got = pathOf(events, agent);
    if (expected.join('\n') === got.join('\n')) return [];
    return [
      {
        what,
        expected: expected.join(' '),
        got: got.length > 0 ? got.join(' ') : noSteps(agent, events),
        difference: pathDifference(expected, got),
      },
    ];
  });
}

function noSteps(agent: string, events: readonly RunEvent[]): string {
  const agents = new Set(events.flatMap((event) => ('agent' in event ? [event.agent] : [])));
  return `nothing: agent ${agent} does not exist. The agents are ${[...agents].join(', ')}.`;
}

function valueProblems(expect: Expectations, { run, events }: Happened): readonly Problem[] {
  const problems: Problem[] = [];
  const check = (what: string, expected: string | number | undefined, got: string | number) => {
    if (expected === undefined || expected === got) return;
    problems.push({ what: `expect.${what}`, expected: String(expected), got: String(got) });
  };
  check('result', expect.result?.trimEnd(), run.result?.trimEnd() ?? 'no result');
  check('depth', expect.depth, depthOf(events));
  check('cost', expect.cost, Math.round(run.totalCostUsd * 1e6) / 1e6);
  return problems;
}

function resultProblems({ results }: Expectations, { events }: Happened): readonly Problem[] {
  const given = new Map(
    events.flatMap((event) =>
      event.type === 'agent-ended' ? [[event.agent, event.result] as const] : [],
    ),
  );
  return Object.entries(results ?? {}).flatMap(([agent, expected]) => {
    const got = given.get(agent);
    if (got?.trimEnd() === expected.trimEnd()) return [];
    return [{ what: `expect.results.${agent}`, expected, got: got ?? 'no result' }];
  });
}

function joinProblems({ joins }: Expectations, { events }: Happened): readonly Problem[] {
  if (!joins) return [];
  const reports = events.flatMap((event) => (event.type === 'join-reported' ? [event] : []));
  const got = reports.map(({ agent, state, workers }) => ({
    agent,
    state: stemOf(state),
    workers: Object.fromEntries(workers.map((child) => [child.agent, child.status])),
  }));
  // Only the parts that the test names are compared.
  const expected = joins.map(({ agent = FIRST_AGENT, state, workers }, index) => ({
    agent,
    state: state === undefined ? got[index]?.state : stemOf(state),
    workers: workers ?? got[index]?.workers,
  }));
  const [wanted, seen] = [expected, got].map((list) => list.map((join) => JSON.stringify(join)));
  if (wanted?.join('\n') === seen?.join('\n')) return [];
  return [
    {
      what: 'expect.joins',
      expected: wanted?.join('\n') ?? '',
      got: seen?.join('\n') || 'no join was reported',
    },
  ];
}

function variableProblems({ variables }: Expectations, { events }: Happened): readonly Problem[] {
  const given = new Map(
    events.flatMap((event) =>
      event.type === 'agent-forked'
        ? [[event.agent, new Map(Object.entries(event.variables))] as const]
        : [],
    ),
  );
  return Object.entries(variables ?? {}).flatMap(([agent, wanted]) =>
    Object.entries(wanted).flatMap(([name, expected]) => {
      const got = given.get(agent)?.get(name);
      if (got === expected) return [];
      const missing = given.has(agent) ? 'nothing' : `nothing: no agent ${agent} was forked`;
      return [{ what: `expect.variables.${agent}.${name}`, expected, got: got ?? missing }];
    }),
  );
}

function promptProblems({ prompts }: Expectations, happened: Happened): readonly Problem[] {
  return Object.entries(prompts ?? {}).flatMap(([state, wanted]) => {
    const isThisState = extensionOf(state)
      ? (name: string) => name === state
      : (name: string) => stemOf(name) === state;
    const sent = happened.prompts
      .filter((prompt) => isThisState(prompt.state))
      .map(({ text }) => text);
    return [wanted].flat().flatMap((text) => {
      if (sent.some((prompt) => prompt.includes(text.trimEnd()))) return [];
      return [
        {
          what: `expect.prompts.${state}`,
          expected: `a prompt that contains "${text.trimEnd()}"`,
          got: sent.length === 0 ? `${state} received no prompt` : 'no such prompt',
          ...(sent.length > 0 && { detail: sent.join('\n---\n') }),
        },
      ];
    });
  });
}

function fileProblems({ files }: Expectations, { cwd }: Happened): Promise<readonly Problem[]> {
  return textProblems('expect.files', files, (file) => readProjectFile(cwd, file));
}

async function branchProblems(
  { branches }: Expectations,
  { cwd }: Happened,
): Promise<readonly Problem[]> {
  const checks = Object.entries(branches ?? {}).map(async ([branch, wanted]) => {
    const what = `expect.branches.${branch}`;
    const found = await branchIn(cwd, branch);
    if (wanted === 'none') return found ? [{ what, expected: 'no branch', got: 'a branch' }] : [];
    if (!found) return [{ what, expected: 'a branch', got: 'no such branch' }];
    const missing = (wanted.commits ?? []).filter((one) => !found.subjects.includes(one.trimEnd()));
    return [
      ...missing.map((subject) => ({
        what: `${what}.commits`,
        expected: `the commit "${subject.trimEnd()}"`,
        got: found.subjects.map((one) => `"${one}"`).join(', '),
      })),
      ...(await textProblems(`${what}.files`, wanted.files, (file) =>
        committedFile(cwd, branch, file),
      )),
    ];
  });
  return (await Promise.all(checks)).flat();
}

async function textProblems(
  what: string,
  files: Readonly<Record<string, string>> | undefined,
  read: (file: string) => Promise<{ readonly text: string } | { readonly problem: string }>,
): Promise<readonly Problem[]> {
  const checks = Object.entries(files ?? {}).map(async ([file, text]) => {
    const found = await read(file);
    if ('text' in found && found.text.includes(text.trimEnd())) return [];
    return [
      {
        what: `${what}.${file}`,
        expected: `a file that contains "${text.trimEnd()}"`,
        got: 'text' in found ? `"${found.text.trimEnd()}"` : found.problem,
      },
    ];
  });
  return (await Promise.all(checks)).flat();
}
