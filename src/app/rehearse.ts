/** Plays a workflow without a model, a script and a journal. It leaves no files behind. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRun } from '../interpret/new-run.ts';
import { entryInput } from '../interpret/workflow-defaults.ts';
import type { LooseLibrary } from '../load/load.ts';
import type { RunEvent, RunOutcome } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { Workflow } from '../model/workflow.ts';
import { playRun } from '../workflow-tests/play.ts';
import { foldersIn } from '../workflow-tests/run-test.ts';
import { groundOf } from '../world/ground.ts';
import { loadNamed } from '../world/load-workflows.ts';
import { ownFileOf, rehearsalIn } from '../world/wire.ts';

export interface Rehearsed {
  readonly outcome: RunOutcome;
  /** Steps, of all agents. */
  readonly steps: number;
  readonly agents: number;
  /** The states that the first agent entered, up to a limit. */
  readonly path: readonly string[];
  readonly result: string | null;
  readonly problems: readonly RehearsalProblem[];
}

interface RehearsalProblem {
  readonly agent: string;
  readonly state: string;
  /** The kind of the failure, or the code of an error. */
  readonly kind: string;
  readonly message: string;
}

export interface RehearsalWish {
  readonly cwd: string;
  readonly library: LooseLibrary;
  readonly workflow: Workflow;
  /** By default the rehearsal files beside the workflows. */
  readonly fileOf?: Parameters<typeof rehearsalIn>[2]['fileOf'] | undefined;
}

export async function rehearse({
  cwd,
  library: loose,
  workflow,
  fileOf,
}: RehearsalWish): Promise<Rehearsed> {
  const root = await mkdtemp(join(tmpdir(), 'raymond-check-'));
  try {
    const library = loose.unpackingInto(join(root, 'source'));
    await loadNamed(library, workflow.ref);
    const played = await rehearsalIn(library, workflow.ref, {
      fileOf: fileOf ?? ownFileOf(library),
    });
    const folders = foldersIn(root);
    const input = entryInput(workflow, undefined);
    const { run, events } = await playRun(
      {
        start: {
          ...{ run: RUN, workflow: workflow.ref, state: workflow.entry, cwd, metadata: {} },
          settings: { ...newRun.settings, budgetUsd: 0, maxIterations: MOST_STEPS, rehearse: true },
          // An input that is required may be any text.
          ...((!input.ok || input.input !== undefined) && {
            input: (input.ok ? input.input : undefined) ?? REPLY,
          }),
        },
      },
      {
        ...{ library, executors: played, folders },
        ground: await groundOf({ cwd, startedAt: Date.now() }, library, join(root, 'tasks')),
        replies: [...played.replies, ...Array<string>(MOST_STEPS).fill(REPLY)],
        stopped: AbortSignal.timeout(MOST_MS),
      },
    );
    return rehearsed(run, events);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const RUN = 'check-00000000';

/** The answer to a question that the rehearsal file does not answer. */
const REPLY = 'rehearsed';

/** The work of a rehearsal, whatever the workflow says. Most need fewer than twenty steps. */
const [MOST_STEPS, MOST_MS] = [500, 20_000];

function rehearsed(run: Run, events: readonly RunEvent[]): Rehearsed {
  const path = events.flatMap((event) =>
    event.type === 'step-started' && event.agent === 'main' && event.task === 'state'
      ? event.state
      : [],
  );
  const { status, steps, result } = run;
  return {
    outcome: status.kind === 'ended' ? status.outcome : 'interrupted',
    steps,
    agents: run.agents.size + run.endedAgents.size,
    path: path.slice(0, MOST_SHOWN),
    result: result ?? null,
    problems: [...run.agents]
      .flatMap(([agent, { state, status }]) => {
        if (status.kind !== 'failed') return [];
        const { kind, message } = status.failure;
        return { agent, state, kind, message };
      })
      .slice(0, MOST_SHOWN),
  };
}

const MOST_SHOWN = 50;
