/**
 * The tools for agents that orchestrate runs. A tool can do nothing that the person who started the
 * server did not allow. It runs the checks of the command line, and gives no consent for them.
 * Tools return texts of runs as JSON, so they cannot be taken for words of Raymond.
 */
import * as z from 'zod';
import type { RunControl } from '../app/for-programs.ts';
import { reachText } from '../app/say.ts';
import { bounded } from '../model/bounded-text.ts';
import { MOST_FILES } from '../model/kept-file.ts';
import { DECISIONS } from '../model/permission.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { awaitNews } from './await-news.ts';
import { compactRow, compactRun } from './compact-run.ts';

export interface ToolParts {
  readonly control: RunControl;
  /** The highest budget that a tool may choose for a run; 0 is unlimited. */
  readonly mostBudgetUsd: number;
  /** Whether a tool may allow what an agent may not do by itself. */
  readonly mayAllow: boolean;
  /** Aborted when the client is gone. */
  readonly closed: AbortSignal;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly isReading: boolean;
  /** Checks the input. May throw a UserError. */
  readonly act: (input: unknown, parts: ToolParts) => Promise<unknown>;
}

const run = z.string().describe('The id of a run.');
const limits = {
  budget: z
    .number()
    .positive()
    .optional()
    .describe('In US dollars, for the whole run. The person who started this server limits it.'),
  max_iterations: z.int().positive().optional().describe('The largest number of starts of states.'),
};

/** Clients give up on a tool after a minute. */
const MOST_SECONDS = 50;

const MOST_CHARACTERS = 50_000;

interface TypedTool<Input extends z.ZodObject> extends Omit<Tool, 'input' | 'act'> {
  readonly input: Input;
  readonly act: (input: z.infer<Input>, parts: ToolParts) => Promise<unknown>;
}

function tool<Input extends z.ZodObject>(one: TypedTool<Input>): Tool {
  return { ...one, act: async (input, parts) => one.act(one.input.parse(input), parts) };
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'list',
    description: 'Lists the runs of this project, the newest first.',
    input: z.strictObject({
      limit: z.int().positive().max(100).optional().describe('20 by default.'),
    }),
    isReading: true,
    async act({ limit }, { control }) {
      const { runs, total, warnings } = await control.list({ newest: limit ?? 20 });
      return {
        runs: runs.toReversed().map(compactRow),
        omitted: total - runs.length,
        ...(warnings.length > 0 && { warnings }),
      };
    },
  }),
  tool({
    name: 'show',
    description: 'Shows one run: its agents, open questions, failures, cost and result.',
    input: z.strictObject({ run }),
    isReading: true,
    act: async ({ run }, { control }) => compactRun(await control.look(run)),
  }),
  tool({
    name: 'diff',
    description: 'Shows the files that a run, one of its agents or one step has changed.',
    input: z.strictObject({
      run,
      agent: z.string().optional().describe('Only its changes.'),
      step: z.int().positive().optional().describe('Only this step of the agent.'),
    }),
    isReading: true,
    async act({ run, agent, step }, { control }) {
      if (step !== undefined && agent === undefined)
        throw new UserError('usage', 'A step needs its agent.', 'Name the agent, such as main.');
      return control.diff(run, { agent, step });
    },
  }),
  tool({
    name: 'bound',
    description:
      'Says the most prompts, agents, dollars and time that a run of a workflow can use, or which loop has no limit. Starts nothing.',
    input: z.strictObject({
      workflow: z.string().describe('The path of a workflow inside the project.'),
      turn: z
        .number()
        .nonnegative()
        .optional()
        .describe('The price of a prompt in US dollars, if finished runs do not say it.'),
    }),
    isReading: true,
    act: async ({ workflow, turn }, { control }) => control.bound(workflow, { turn }),
  }),
  tool({
    name: 'check',
    description:
      'Checks a workflow of this project after you wrote or changed it: lint, every path, the most that it can use, and a rehearsal. Executes nothing. Do what its field next says until the verdict is ready.',
    input: z.strictObject({
      workflow: z.string().describe('The path of a workflow inside the project.'),
    }),
    isReading: true,
    act: async ({ workflow }, { control }) => control.check(workflow),
  }),
  tool({
    name: 'propose',
    description:
      'Proposes new or changed files of one workflow. They are checked and kept for a person, who alone can write them into the project. Use it if you may not write these files yourself.',
    input: z.strictObject({
      workflow: z.string().describe('The path of the folder of the workflow, which may be new.'),
      why: z.string().describe('What it is for, in a few sentences for the person.'),
      files: z
        .array(z.strictObject({ name: z.string(), content: z.string() }))
        .describe('States, workflow.yaml and their companions, by their names in the folder.'),
    }),
    isReading: false,
    async act(wish, { control }) {
      const proposed = await control.propose(wish);
      const { report } = proposed;
      if (proposed.kind === 'faulty')
        return {
          kept: false,
          next: 'Fix what check reports, and propose it again.',
          check: report,
        };
      const { id } = proposed.proposal;
      const next = `Tell the person what you propose. They decide in their own terminal: raymond trust --proposals ${id}`;
      return { kept: true, proposal: id, next, check: report };
    },
  }),
  tool({
    name: 'start',
    description:
      'Starts a workflow of this project in the background, and returns the run. Then use watch. A workflow that changed after this server was started needs a person.',
    input: z.strictObject({
      workflow: z.string().describe('The path of a workflow inside the project.'),
      input: z.string().optional().describe('The value of {{input}} for the first state.'),
      set: z
        .record(z.string(), z.string())
        .optional()
        .describe('Variables of prompts and scripts.'),
      id: z.string().optional().describe('The id of the new run.'),
      ask_permissions: z
        .boolean()
        .optional()
        .describe('Tool calls that agents may not make are asked, and not denied.'),
      rehearse: z.boolean().optional().describe('Calls no model and executes no script.'),
      ...limits,
    }),
    isReading: false,
    async act({ workflow, id, set, ...given }, parts) {
      const { control, mostBudgetUsd } = parts;
      checkBudget(given.budget, parts);
      const budget = given.budget ?? (mostBudgetUsd > 0 ? mostBudgetUsd : undefined);
      const pairs = set && Object.entries(set).map(([name, value]) => `${name}=${value}`);
      const started = await control.start(workflow, { ...given, budget, set: pairs }, id);
      return launched(started, parts);
    },
  }),
  tool({
    name: 'watch',
    description:
      'Waits for news of a run, and returns its state. By default it returns when the run needs attention: a question, a permission request, a failure, a limit or its end. Call it again with the position that it returned.',
    input: z.strictObject({
      run,
      after: z.int().nonnegative().optional().describe('The position of the last state you saw.'),
      until: z.enum(['attention', 'change']).optional().describe('attention by default.'),
      seconds: z.number().nonnegative().max(MOST_SECONDS).optional().describe('30 by default.'),
    }),
    isReading: true,
    async act({ run, after, until = 'attention', seconds = 30 }, { control, closed }) {
      const signal = AbortSignal.any([closed, AbortSignal.timeout(seconds * 1_000)]);
      const news = await awaitNews(control, run, { after, until, signal });
      return { news, ...compactRun(await control.look(run)) };
    },
  }),
  tool({
    name: 'answer',
    description: 'Answers an open question of a run.',
    input: z.strictObject({
      run,
      agent: z.string().optional().describe('May be left out if one agent asks.'),
      text: z.string(),
      files: z
        .array(z.string())
        .max(MOST_FILES)
        .optional()
        .describe('Paths of files of the project to send with the answer.'),
    }),
    isReading: false,
    async act({ run, agent, text, files }, { control }) {
      const { isDelivered, ...answered } = await control.answer(run, agent, text, { paths: files });
      const next = isDelivered ? 'Use watch.' : 'No process works on the run. Use resume.';
      return { run, ...answered, delivered: isDelivered, next };
    },
  }),
  tool({
    name: 'file',
    description:
      'Reads a text file that a question of a run shows, or that an answer brought. Without a name, lists these files.',
    input: z.strictObject({
      run,
      name: z.string().optional().describe('Its name, or the beginning of its hash.'),
    }),
    isReading: true,
    async act({ run, name }, { control }) {
      if (name === undefined) return { files: await control.files(run) };
      const { content: _, image: __, text, ...file } = await control.file(run, name);
      return { ...file, text: text === undefined ? null : bounded(text, MOST_CHARACTERS) };
    },
  }),
  tool({
    name: 'decide',
    description:
      'Decides about a permission request of a run. Only a person can allow a call, unless they let this server do so. You can always deny it.',
    input: z.strictObject({
      run,
      request: z.string().optional().describe('May be left out if there is one.'),
      decision: z.enum(DECISIONS),
      text: z.string().optional().describe('A word for the agent, or the answer to its question.'),
    }),
    isReading: false,
    async act({ run, request, decision, text }, { control, mayAllow }) {
      if (!mayAllow && (decision === 'allow' || decision === 'allow-run')) throw onlyPeople(run);
      const given = { decision, ...(text !== undefined && { text }) };
      const { isDelivered, ...decided } = await control.decide(run, { request }, given);
      return { run, ...decided, delivered: isDelivered };
    },
  }),
  tool({
    name: 'say',
    description:
      'Says something to an agent of a run: into its running turn if the agent takes it there, else in front of its next prompt. The reply says which.',
    input: z.strictObject({
      run,
      agent: z.string().optional().describe('May be left out if the run has one agent.'),
      text: z.string(),
    }),
    isReading: false,
    async act({ run, agent, text }, { control }) {
      const said = await control.say(run, agent, text);
      return { run, ...said, means: reachText(run, said) };
    },
  }),
  tool({
    name: 'stop',
    description: 'Stops a run. It can be resumed.',
    input: z.strictObject({
      run,
      now: z
        .boolean()
        .optional()
        .describe('Also stop the running steps, and do not wait for them.'),
    }),
    isReading: false,
    async act({ run, now }, { control }) {
      const stopping = await control.stop(run, now ? 'now' : 'drain');
      // A drain may take as long as the running steps.
      if (now) await stopping.wait();
      return compactRun(await control.look(run));
    },
  }),
  tool({
    name: 'resume',
    description: 'Continues a run that has stopped, failed or crashed, in the background.',
    input: z.strictObject({
      run,
      input: z.string().optional().describe('Replaces the input of failed agents.'),
      fresh: z.boolean().optional().describe('Failed agents begin in new sessions.'),
      ...limits,
    }),
    isReading: false,
    async act({ run, fresh, ...given }, parts) {
      checkBudget(given.budget, parts);
      // Only a person can accept changed files, or a run that they did not start.
      return launched(await parts.control.resume(run, given, { fresh }), parts);
    },
  }),
];

async function launched(
  { id, warnings }: { readonly id: string; readonly warnings: readonly string[] },
  { control }: ToolParts,
) {
  return { ...compactRun(await control.look(id)), warnings };
}

function onlyPeople(run: string): UserError {
  return new UserError(
    'not-allowed-here',
    'Only a person can allow this call.',
    `Ask them to run: raymond answer ${shellWord(run)} allow. Or deny it. They can start this server with --decide-permissions to leave it to you.`,
  );
}

function checkBudget(budget: number | undefined, { mostBudgetUsd }: ToolParts): void {
  if (budget === undefined || mostBudgetUsd === 0 || budget <= mostBudgetUsd) return;
  throw new UserError(
    'budget-too-high',
    `The budget of a run can be at most ${mostBudgetUsd} US dollars here.`,
    'Choose a lower one. The person who started this server can allow more: raymond mcp --budget <usd>',
  );
}
