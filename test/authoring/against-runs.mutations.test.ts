/**
 * Each mutation of each template is judged twice: by `playAgain`, from the journal, and by a full play of the
 * mutated workflow with the same answers, whose path is compared. Both must agree on every run.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { type ScriptedAnswer, scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { createLibrary } from '../../src/load/load.ts';
import type { JournaledEvent, RunEvent } from '../../src/model/event.ts';
import { UserError } from '../../src/model/user-error.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { stemOf } from '../../src/parse/state.ts';
import type { Step, WorkflowLibrary } from '../../src/ports.ts';
import { playRun } from '../../src/workflow-tests/play.ts';
import { type Finding, playAgain } from '../../src/workflow-tests/play-again.ts';
import { isLong } from '../long.ts';
import { ROOT } from './sandbox.ts';
import { GAMES, type Game } from './template-games.ts';

const folder = mkdtempSync(join(tmpdir(), 'raymond mutations '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

interface Mutation {
  readonly name: string;
  readonly files: Files;
}

function filesOf({ template, files }: Game): Files {
  if (files) return files;
  const at = join(ROOT, 'templates', template);
  const names = readdirSync(at).filter((name) => /\.(md|sh)$|^workflow\.yaml$/.test(name));
  const read = names.filter((name) => name !== 'README.md');
  return Object.fromEntries(read.map((name) => [name, readFileSync(join(at, name), 'utf8')]));
}

/** Everything that one change of one file can do to a workflow. */
function mutationsOf(files: Files): readonly Mutation[] {
  const names = Object.keys(files);
  const states = names.filter((name) => /\.(md|sh)$/.test(name) && !name.includes('/'));
  const found: Mutation[] = [];
  const add = (name: string, more: Readonly<Record<string, string | undefined>>) => {
    const next = Object.entries({ ...files, ...more }).flatMap(([file, text]) =>
      text === undefined ? [] : [[file, text] as const],
    );
    if (JSON.stringify(Object.fromEntries(next)) !== JSON.stringify(files))
      found.push({ name, files: Object.fromEntries(next) });
  };
  for (const name of states) {
    const text = files[name] ?? '';
    const edit = (what: string, next: string) => add(`${name}: ${what}`, { [name]: next });
    const stem = stemOf(name);
    if (stem !== 'START') {
      add(`${name}: renamed`, { [name]: undefined, [`${stem}_2${name.slice(stem.length)}`]: text });
      add(`${name}: of the other kind`, {
        [name]: undefined,
        [name.endsWith('.md') ? `${stem}.sh` : `${stem}.md`]: 'Go on.\n',
      });
      add(`${name}: ambiguous`, {
        [name.endsWith('.md') ? `${stem}.sh` : `${stem}.md`]: 'Go on.\n',
      });
    } else add('another entry', { '1_START.md': 'Begin.', [name]: undefined });
    if (name.endsWith('.sh')) {
      edit('a comment', `# A comment.\n${text}`);
      edit('a command', text.replace(/^set -eu/m, 'set -e'));
      continue;
    }
    if (!text.startsWith('---')) {
      edit('other text', `${text}\nBe brief.`);
      edit('a policy', `---\nallowed_transitions: [{ tag: result, payload: NO }]\n---\n${text}`);
      continue;
    }
    const head = (key: string) => text.replace('---\n', `---\n${key}\n`);
    edit('other text', `${text}\nBe brief.`);
    edit('an unknown placeholder', `${text}\n{{unknown}}`);
    edit('a comment in front matter', head('# A comment.'));
    edit('white space', text.replaceAll('{ tag', '{   tag').replaceAll(' }', '   }'));
    edit('broken front matter', head('allowed_transitions: [{'));
    edit('another model', head('model: opus'));
    edit('another timeout', text.includes('timeout:') ? text : head('timeout: 77'));
    edit('no policy', text.replace(/allowed_transitions:.*\n( .*\n)*/, ''));
    edit(
      'the only transition is a result',
      text.replace(
        /allowed_transitions:.*\n( .*\n)*/,
        'allowed_transitions: [{ tag: result, payload: DONE }]\n',
      ),
    );
    edit('forced', head('force_implicit: true'));
    const entries = [...text.matchAll(/^ {2}- \{ tag.*\n/gm)].map(([line]) => line);
    for (const entry of entries) {
      if (entries.length > 1) edit(`without ${entry.trim()}`, text.replace(entry, ''));
      edit(
        `${entry.trim()} with an input`,
        text.replace(entry, entry.replace(' }', ', input: must }')),
      );
    }
    if (entries.length > 1)
      edit(
        'entries in another order',
        text.replace(entries.join(''), entries.toReversed().join('')),
      );
    edit('one more entry', text.replace(/^ {2}- \{ tag/m, '  - { tag: goto, target: START }\n$&'));
    edit(
      'a fixed payload',
      text.replaceAll('{ tag: result }', '{ tag: result, payload: APPROVED }'),
    );
    edit(
      'a schema',
      text.replaceAll('{ tag: result }', '{ tag: result, schema: { type: object } }'),
    );
    edit(
      'a schema for texts',
      text.replaceAll('{ tag: result }', '{ tag: result, schema: { type: number } }'),
    );
    edit(
      'max_visits 1',
      /max_visits/.test(text)
        ? text.replace(/max_visits: \d+/, 'max_visits: 1')
        : head('max_visits: 1'),
    );
    edit(
      'max_visits 50',
      /max_visits/.test(text)
        ? text.replace(/max_visits: \d+/, 'max_visits: 50')
        : head('max_visits: 50'),
    );
    if (!text.includes('evaluators:')) {
      edit(
        'an evaluator of visits',
        head('evaluators: [{ visits: 2, then: { tag: result, payload: enough } }]'),
      );
      edit(
        'an evaluator that never fires',
        head('evaluators: [{ visits: 50, then: { tag: result } }]'),
      );
      edit(
        'an evaluator of words',
        head('evaluators: [{ matches: "goto|APPROVED", then: { tag: result, payload: seen } }]'),
      );
    }
    edit('evaluators fire earlier', text.replace(/visits: (4|9)/, 'visits: 2'));
    edit('evaluators fire later', text.replace(/(visits|unchanged): \d+, then/g, '$1: 40, then'));
    edit(
      'an evaluator leads elsewhere',
      text.replace(/then: \{ tag: goto, target: \w+/, 'then: { tag: goto, target: START'),
    );
    edit('no evaluators', text.replace(/evaluators:\n( .*\n)*/, ''));
    edit('the judge expects another word', text.replace('expect: "YES"', 'expect: "NO"'));
    edit('no judge', text.replace(/ {2}- \{ prompt.*\n/, ''));
    edit('no checks', text.replace(/ensures:\n( .*\n)*/, ''));
    edit(
      'one more check',
      text.includes('ensures:')
        ? text.replace(/ensures:\n/, '$&  - { run: first, on: [ask] }\n')
        : head('ensures: [{ run: new check }]'),
    );
    edit('a check that says something else', text.replace(/say: .*/, 'say: Look again.'));
    edit('fewer tries', text.replace(/tries: \d/, 'tries: 1'));
    edit(
      'a check leads elsewhere',
      text.replace(/else: \{ tag: goto, target: \w+/, 'else: { tag: goto, target: START'),
    );
    edit('nothing to fill', text.replace('fill: haiku\n', ''));
    edit('no compact', text.replace('{ tag: compact', '{ tag: goto'));
    edit('another workflow', text.replace('path: other', 'path: another'));
  }
  const manifest = files['workflow.yaml'];
  if (manifest !== undefined) {
    const edit = (what: string, next: string) =>
      add(`workflow.yaml: ${what}`, { 'workflow.yaml': next });
    edit('another description', manifest.replace(/description: .*/, 'description: Other.'));
    edit('one visit each', manifest.replaceAll(/max_visits: \d+/g, 'max_visits: 1'));
    edit('other timeouts', manifest.replaceAll(/timeout: \d+/g, 'timeout: 5'));
    edit('another budget', manifest.replace(/default_budget: .*/, 'default_budget: 1'));
    edit(
      'a required input',
      manifest.includes('input:') ? manifest : `input: { required: true }\n${manifest}`,
    );
    add('workflow.yaml: none', { 'workflow.yaml': undefined });
  }
  const other = files['other/START.md'];
  if (other !== undefined) {
    add('other: none', { 'other/START.md': undefined });
    add('other: a policy', {
      'other/START.md': other.replace('{ tag: result }', '{ tag: result, payload: X }'),
    });
    add('other: text', { 'other/START.md': `${other} Briefly.` });
  }
  return found;
}

let written = 0;

/** The workflow with these files; undefined if it cannot be loaded at all. */
async function load(files: Files, at = join(folder, `${++written}`)) {
  rmSync(at, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    writeFileSync(join(at, name), text);
  }
  const library = createLibrary({ cwd: at, platform: 'unix', agents: AGENTS });
  try {
    const workflow = await library.load(at);
    return { workflow, library: library.unpackingInto(join(at, '.unpacked')) };
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

type Answering = (step: Step) => ScriptedAnswer;

async function played(
  { workflow, library }: { workflow: Workflow; library: WorkflowLibrary },
  { input, replies = [] }: Game,
  answer: Answering,
): Promise<readonly RunEvent[]> {
  const agent = scriptedAgent(answer);
  const start = {
    run: 'r-00000000',
    workflow: workflow.ref,
    state: workflow.entry,
    cwd: '/project',
    settings: { ...newRun.settings, budgetUsd: 0, maxIterations: 200 },
    metadata: {},
    ...(input !== undefined && { input }),
  };
  const { events } = await playRun(
    { start },
    {
      library,
      executors: { prompt: agent, script: agent },
      ground: {
        findDirectory: async (path) => ({ found: true, path, inProject: true }),
        lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
        entryDigest: async (received) => `${received}`,
        environment: new Set(),
      },
      folders: {
        step: (id, n) => `/steps/${id}/${n}`,
        task: (id) => `/tasks/${id}`,
        hasBegun: () => false,
        put: () => {},
        notes: { put: () => {}, read: () => undefined, remove: () => {}, digest: () => '' },
      },
      replies,
    },
  );
  return events;
}

const keyOf = (agent: string, step: number) => `${agent}#${step}`;

interface RecordedRun {
  readonly events: readonly JournaledEvent[];
  readonly answers: ReadonlyMap<string, string>;
  readonly prompts: ReadonlyMap<string, string>;
  /** What each agent, judge and check said, in order. */
  readonly said: ReadonlyMap<string, readonly Said[]>;
}

interface Said {
  readonly state: string;
  readonly answer: ScriptedAnswer;
}

async function record(game: Game): Promise<RecordedRun> {
  const now = await load(filesOf(game), join(folder, game.template));
  if (!now) throw new Error(`${game.template} cannot be loaded.`);
  const answers = new Map<string, string>();
  const prompts = new Map<string, string>();
  const said = new Map<string, Said[]>();
  const counts = new Map<string, number>();
  const nextOf = <T>(key: string, several: readonly T[]): T | undefined => {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return several[Math.min(count, several.length - 1)];
  };
  const events = await played(now, game, (step) => {
    const answer = answerIn(game, step, nextOf);
    const key = saidKey(step);
    said.set(key, [...(said.get(key) ?? []), { state: step.state, answer }]);
    const text = typeof answer === 'string' ? answer : 'text' in answer ? answer.text : '';
    answers.set(keyOf(step.agent, step.number), text);
    if (step.kind === 'prompt') prompts.set(keyOf(step.agent, step.number), step.prompt);
    return answer;
  });
  return { events: events.map((event, at) => ({ ...event, seq: at + 1 })), answers, prompts, said };
}

function answerIn(
  { answers, exits = {} }: Game,
  step: Step,
  nextOf: <T>(key: string, several: readonly T[]) => T | undefined,
): ScriptedAnswer {
  if (step.kind === 'check')
    return { text: '', exit: nextOf(`${step.agent} check`, exits[step.agent] ?? [0]) ?? 0 };
  if (step.kind === 'prompt' && step.writes)
    return step.writes.kind === 'handover'
      ? 'All that matters.'
      : JSON.stringify(Object.fromEntries(step.writes.names.map((name) => [name, 'plain'])));
  const stem = stemOf(step.state);
  const name = step.workflow.endsWith('/other') ? `other/${stem}` : stem;
  const given = answers[name] ?? [];
  const several = typeof given === 'string' ? [given] : given;
  const answer = nextOf(`${step.agent} ${name}`, several);
  if (answer === undefined) throw new Error(`No answer for ${step.state}.`);
  return answer;
}

/** Who says it: the agent itself, a judge, a check by its command, or the writer of a text. */
function saidKey(step: Step): string {
  if (step.kind === 'check') return `${step.agent} check ${step.command}`;
  if (step.kind === 'prompt' && step.writes) return `${step.agent} ${step.writes.kind}`;
  const isJudge = step.kind === 'prompt' && stemOf(step.state) === 'JUDGE';
  return isJudge ? `${step.agent} judge` : step.agent;
}

/** Plays a workflow from the beginning. Each agent says what it said in the recorded run, as long as it is in the same states. */
async function playedFully(
  now: { workflow: Workflow; library: WorkflowLibrary },
  game: Game,
  { said }: RecordedRun,
): Promise<readonly RunEvent[]> {
  const left = new Map([...said].map(([key, several]) => [key, [...several]]));
  return played(now, game, (step) => {
    const next = left.get(saidKey(step))?.shift();
    if (next && stemOf(next.state) === stemOf(step.state)) return next.answer;
    // Nobody knows what a new check says. Here it succeeds.
    if (step.kind === 'check') return { text: '', exit: 0 };
    if (step.kind === 'prompt' && step.writes?.kind === 'fill')
      return JSON.stringify(Object.fromEntries(step.writes.names.map((name) => [name, 'plain'])));
    return { failure: { kind: 'refused', message: 'The recording has no answer.' } };
  });
}

/** For each agent: its steps in its states, and how it ended. */
function pathsOf(events: readonly RunEvent[]): ReadonlyMap<string, readonly Place[]> {
  const paths = new Map<string, Place[]>();
  const add = (agent: string, step: number, what: string) =>
    paths.set(agent, [...(paths.get(agent) ?? []), { step, what }]);
  for (const event of events) {
    if (event.type === 'step-started' && ['state', 'reminder', 'continuation'].includes(event.task))
      add(event.agent, event.step, `${event.state} ${event.task}`);
    if (event.type === 'agent-ended') add(event.agent, 0, `ended: ${event.result}`);
    if (event.type === 'agent-failed') add(event.agent, 0, 'failed');
    if (event.type === 'agent-asked') add(event.agent, 0, 'asked');
  }
  return paths;
}

interface Place {
  readonly step: number;
  readonly what: string;
}

/** The step of each agent after which it went elsewhere. */
function departures(
  was: readonly RunEvent[],
  now: readonly RunEvent[],
): Readonly<Record<string, number>> {
  const after = pathsOf(now);
  const found: Record<string, number> = {};
  for (const [agent, path] of pathsOf(was)) {
    const other = after.get(agent) ?? [];
    const at = path.findIndex(({ what }, index) => other[index]?.what !== what);
    const first = at < 0 && other.length > path.length ? path.length : at;
    if (first < 0) continue;
    found[agent] = path.slice(0, first).findLast(({ step }) => step > 0)?.step ?? 0;
  }
  return found;
}

/** Whether an agent really leaves its path at this step. */
function isTrue({ agent, step, paths }: Finding, truth: Readonly<Record<string, number>>): boolean {
  const at = truth[agent];
  if (paths?.now.startsWith('forks'))
    return Object.keys(truth).some((one) => one.startsWith(`${agent}_`));
  if (at === undefined) return false;
  // It begins a step that fails, or calls a state that returns elsewhere.
  return (
    at === step ||
    (at === 0 && step === 1) ||
    (at > step && paths?.now.includes('returning') === true)
  );
}

test('each change that alters a recorded path is named, and none that does not', async () => {
  const problems: string[] = [];
  const counts = { mutations: 0, altering: 0, harmless: 0, open: 0 };
  let number = 0;
  for (const template of new Set(GAMES.map((game) => game.template))) {
    const games = GAMES.filter((game) => game.template === template);
    const recorded: RecordedRun[] = [];
    for (const game of games) recorded.push(await record(game));
    const [first] = games;
    for (const { name, files } of first ? mutationsOf(filesOf(first)) : []) {
      if (!isLong && number++ % 8 !== 0) continue;
      const now = await load(files, join(folder, template));
      if (!now) continue;
      let isAltering = false;
      for (const [index, game] of games.entries()) {
        const run = recorded[index];
        if (!run) continue;
        const found = await playAgain(run.events, {
          ...now,
          answer: async ({ agent, step }) => run.answers.get(keyOf(agent, step)),
          told: async ({ agent, step }) => run.prompts.get(keyOf(agent, step)),
        });
        const isRefused = game.input === undefined && now.workflow.about.input?.required === true;
        const truth = isRefused
          ? { main: 0 }
          : departures(run.events, await playedFully(now, game, run));
        isAltering ||= Object.keys(truth).length > 0;
        counts.open += found.open.length > 0 ? 1 : 0;
        // A review that says something else is not the same entry into a state that compares its entries.
        if (found.open.some(({ message }) => message.includes('another value'))) continue;
        const isSame = found.elsewhere.length > 0 === Object.keys(truth).length > 0;
        if (isSame && found.elsewhere.every((one) => isTrue(one, truth))) continue;
        problems.push(
          `${template}, game ${index}, ${name}: the truth is ${JSON.stringify(truth)}, named ${JSON.stringify(found.elsewhere)} ${JSON.stringify(found.open.map((one) => one.message))}`,
        );
      }
      counts.mutations++;
      counts[isAltering ? 'altering' : 'harmless']++;
    }
  }
  expect(problems).toEqual([]);
  expect(counts.mutations).toBeGreaterThan(50);
  expect(counts.altering).toBeGreaterThan(20);
  expect(counts.harmless).toBeGreaterThan(20);
});
