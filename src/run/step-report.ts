import { needs } from '../interpret/needs.ts';
import type { Facts, Located, StepReport, WorkflowFact } from '../model/input.ts';
import { mostBytes } from '../model/kept-file.ts';
import { messageOf } from '../model/message-of.ts';
import type { Agent, Run } from '../model/run.ts';
import type { Account } from '../model/step-account.ts';
import type { OutputText, TagReading } from '../model/tag.ts';
import { UserError } from '../model/user-error.ts';
import { nearTag } from '../parse/near-tag.ts';
import { readTags } from '../parse/tags.ts';
import type { FilesOf, StepOutcome } from '../ports.ts';
import type { AgentTrees } from './agent-trees.ts';
import type { StepsPorts } from './steps.ts';

type ReportPorts = Pick<StepsPorts, 'library' | 'ground' | 'executors'>;

/** The tags in the answer of a step, with the facts that a decision about them needs. */
export async function reportOf(
  ports: ReportPorts,
  trees: AgentTrees,
  run: Run,
  agent: Agent,
  outcome: StepOutcome,
): Promise<StepReport> {
  return readReport(ports, trees, run, agent, outcome).catch((error) =>
    unreadable(error, outcome.account),
  );
}

async function readReport(
  ports: ReportPorts,
  trees: AgentTrees,
  run: Run,
  agent: Agent,
  outcome: StepOutcome,
): Promise<StepReport> {
  if (outcome.kind !== 'answered') return outcome;
  const { output, ...ended } = outcome;
  const isCheck = agent.status.kind === 'running' && agent.status.task.kind === 'check';
  const isPrompt = agent.status.kind === 'running' && agent.status.session !== undefined;
  const reading = isCheck ? NO_TAGS : readingOf(output, isPrompt ? 'heeded' : 'ignored');
  const text = isPrompt || isCheck ? output.slice(0, output.length) : '';
  const facts = await factsFor(ports, trees, run, agent, reading);
  return { ...ended, reading, text, facts };
}

async function factsFor(
  ports: ReportPorts,
  trees: AgentTrees,
  run: Run,
  agent: Agent,
  reading: TagReading,
): Promise<Facts> {
  const { ground, library } = ports;
  const needed = needs((ref) => library.get(ref), agent, reading);
  const directories = [...needed.directories].map(
    async (path) => [path, await ground.findDirectory(path, agent.cwd)] as const,
  );
  const workflows = [...needed.workflows].map(
    async (path) => [path, await findWorkflow(ports, path, agent.workflow)] as const,
  );
  const { keepFiles } = ground;
  const shown = keepFiles
    ? [...needed.files].map(
        async ([key, paths]) =>
          [key, await keepFiles(paths, agent.cwd, whose(ports, run, agent))] as const,
      )
    : [];
  const found = new Map(await Promise.all(directories));
  return {
    directories: found,
    workflows: new Map(await Promise.all(workflows)),
    worktrees: await trees.facts(needed.worktrees, agent.cwd, found),
    ...(ground.keepFiles && { files: new Map(await Promise.all(shown)) }),
    environment: ground.environment,
  };
}

/** Who chose the files that a question shows. The check of a prompt is a script, too. */
function whose(
  { library, executors: { secrets } }: ReportPorts,
  { settings }: Run,
  { workflow, state, status }: Agent,
): FilesOf {
  const isScript = library.get(workflow)?.states.get(state)?.kind === 'script';
  const rights = status.kind === 'running' ? status.rights : undefined;
  return {
    by: isScript ? 'author' : 'agent',
    rights,
    clean: secrets && ((bytes) => secrets.clean(rights?.secrets ?? [], bytes)),
    most: mostBytes(settings),
  };
}

async function findWorkflow(
  { ground, library }: ReportPorts,
  path: string,
  from: string,
): Promise<Located<WorkflowFact>> {
  try {
    const { ref, entry } = await library.load(path, from);
    return { found: true, ref, entry, ...(await ground.lookAtWorkflow(ref)) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { found: false, problem: `${error.message} ${error.remedy}` };
  }
}

/** The output of a check is not an answer. */
const NO_TAGS: TagReading = { tags: [], bad: [] };

/** The tags in an output. In an answer, those in code count only when there is none outside of it. */
export function readingOf(output: OutputText, code: 'heeded' | 'ignored'): TagReading {
  const reading = readTags(output, { code });
  const isEmpty = reading.tags.length === 0 && reading.bad.length === 0;
  return isEmpty ? { ...reading, near: nearTag(output) } : reading;
}

function unreadable(error: unknown, account: Account): StepReport {
  const failure = {
    kind: 'crashed',
    message: `The step's output cannot be read: ${messageOf(error)}`,
  } as const;
  return { kind: 'failed', failure, account };
}
