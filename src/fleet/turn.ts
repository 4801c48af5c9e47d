/**
 * INV-35: One transaction takes inputs, decides, stores the events and gives each new step to a queue or
 * to this worker. A worker that has been declared dead changes nothing any more.
 *
 * The same inputs a second time change nothing. An input applies only while this worker has the claim of
 * its step, and `interpret` ignores what no longer applies.
 */
import { inputFrom, isSettled } from '../host/deliver-messages.ts';
import { isPromptNext } from '../interpret/start-step.ts';
import type { RunEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Input, StartStep } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { NO_COST } from '../model/step-account.ts';
import type { StepKey, WorkflowLibrary } from '../ports.ts';
import type { Database, Queries, Transaction } from '../postgres/database.ts';
import { changeKept, type Head } from '../postgres/head.ts';
import {
  type Mail,
  type OpenLetter,
  openMail,
  refuseMail,
  removeMail,
  waitingMail,
} from '../postgres/mailbox.ts';
import { appendEvents, type RunParts } from '../postgres/run-row.ts';
import type { RowSeals } from '../postgres/seals.ts';
import type { Decided, Decider } from '../run/decider.ts';
import { endOfWait } from '../run/waits.ts';
import { keepSource } from './belongings.ts';
import {
  add,
  begin,
  type Claim,
  type Claimant,
  claimsOf,
  end,
  idleClaims,
  type StepKind,
} from './claims.ts';
import type { KnownRun } from './known-run.ts';
import { lockRun } from './lock-run.ts';
import type { RunPorts } from './ports.ts';
import { wakeAt } from './wakeups.ts';

export interface Turn {
  /** The inputs of the steps on this worker. */
  readonly inputs: readonly Input[];
  /** Whether the step is known to run on this worker. */
  readonly isHeld: (step: StepKey) => boolean;
  /** Whether this worker continues with the next step of an agent whose step ends now. */
  readonly mayContinue: (agent: string, kind: StepKind) => boolean;
  /** Stores what a step left behind, together with its end. */
  readonly keep: (queries: Transaction, step: StepKey) => Promise<void>;
}

export interface TurnParts {
  readonly database: Database;
  readonly runs: RunParts;
  readonly worker: Claimant & { readonly name: string };
  readonly library: Pick<WorkflowLibrary, 'get'>;
  /** Loads the workflows that a run has read elsewhere. */
  readonly load: (run: Run) => Promise<void>;
  readonly pack: RunPorts['pack'];
  readonly executors: StartStep['executors'];
  readonly newId: () => string;
  readonly openLetter: OpenLetter;
}

export interface TakenStep extends Claim {
  /** `lost` if another place had it, and its end cannot be known here. */
  readonly how: 'start' | 'adopt' | 'lost';
}

export interface TurnResult {
  readonly run: Run;
  /** The events that others have stored since the run that was given. */
  readonly news: readonly Decided[];
  readonly decided: readonly Decided[];
  readonly taken: readonly TakenStep[];
  /** The steps that begin on this worker immediately. */
  readonly continued: readonly StepKey[];
  /** Whether steps wait for any worker. */
  readonly isWaiting: boolean;
  /** Whether the mail had rows that are no messages of the user. */
  readonly hasRefusedMail: boolean;
}

/** `known` is any earlier state of the run. Rejects with WorkerLost, RunGone, RunBusy or RunChanged. */
export async function takeTurn(parts: TurnParts, known: KnownRun, turn: Turn): Promise<TurnResult> {
  const { decider, head, ...result } = await parts.database.repeatable((queries) =>
    attempt(parts, known, turn, queries),
  );
  known.keep(decider, head);
  return result;
}

interface Attempted extends TurnResult {
  /** For the next turn. */
  readonly decider: Decider;
  readonly head: Head;
}

async function attempt(
  parts: TurnParts,
  known: KnownRun,
  turn: Turn,
  queries: Transaction,
): Promise<Attempted> {
  const { worker, library } = parts;
  const { rows } = parts.runs;
  const { id } = known.run;
  const locking = lockRun(queries, id, worker.id, rows);
  const reading = Promise.all([claimsOf(queries, id, worker), waitingMail(queries, id)]);
  reading.catch(() => {});
  const { row, at } = await locking;
  const { decider, news } = await known.follow(queries, rows, row, parts.load);
  const [claims, waiting] = await reading;
  const { mail, refused } = await openMail(waiting, id, row, parts.openLetter);

  const ours = turn.inputs.filter((input) => isOurs(input, claims));
  const ending = new Set(ours.flatMap((one) => (one.kind === 'step-ended' ? one.agent : [])));
  const continues = (agentId: string) => {
    const agent = decider.run.agents.get(agentId);
    if (!agent || !ending.has(agentId)) return false;
    const isPrompt = isPromptNext((ref) => library.get(ref), agent);
    return turn.mayContinue(agentId, isPrompt ? 'prompt' : 'script');
  };
  const continued = new Set<string>();
  const decide = (inputs: readonly Input[]) =>
    decider.decide(inputs, {
      at,
      newId: parts.newId,
      executors: parts.executors,
      workerFor: (agent) => {
        if (!continues(agent)) return undefined;
        continued.add(agent);
        return worker.name;
      },
      queues: true,
      attended: true,
      patient: true,
    });
  const letters = mail.flatMap(({ message }) => inputFrom(message, pidOf(message), at) ?? []);
  // An ended run waits for a resume.
  const over = decider.run.status.kind === 'ended' ? [] : decider.waits.over(at);
  const due = over.map((wait) => endOfWait(wait, at));
  const decided = [...decide([...letters, ...due, ...ours])];
  const withdrawn = await withdrawals(queries, decider.run, decided, at);
  if (withdrawn.length > 0) decided.push(...decide(withdrawn));

  const taken = claims.flatMap((claim) => takenBy(claim, decider.run, turn, worker));
  const begun = taken.filter(({ how }) => how === 'start');
  if (begun.length > 0)
    decided.push(
      ...decide(
        begun.map(({ agent, step }) => ({
          ...{ kind: 'step-taken', at, agent, step, worker: worker.name },
        })),
      ),
    );
  const { run } = decider;
  const started = decided.flatMap(({ event }) => startOf(event, continued));
  const ended = decided.flatMap(({ event }) => (isStepEnd(event) ? event : []));
  let head: Head = row;
  if (decided.length > 0) {
    const events = decided.map(({ event }) => event);
    head = await appendEvents(queries, parts.runs, row, events, run);
    for (const event of events)
      if (event.type === 'workflow-read')
        await keepSource(queries, rows, id, event.workflow, parts.pack);
    end(queries, id, ended);
    for (const step of ended) await turn.keep(queries, step);
    add(queries, id, worker, started);
  }
  begin(queries, id, worker, taken);
  const isWaiting = started.some(({ isHere }) => !isHere);
  if (isWaiting) queries.announce(`work ${id}`);
  const settled = mail.filter(({ message }) => isSettled(message, run, pidOf(message)));
  if (settled.length > 0) await settle(queries, rows, id, settled);
  if (refused.length > 0) await refuseMail(queries, refused);
  wakeAt(queries, id, decider.waits.nextLook(at, over));
  return {
    ...{ run, news, decided, taken, decider, head, isWaiting, hasRefusedMail: refused.length > 0 },
    continued: started.filter(({ isHere }) => isHere),
  };
}

/** Removes messages that are over. */
async function settle(
  queries: Queries,
  rows: RowSeals,
  run: string,
  mail: readonly Mail[],
): Promise<void> {
  await removeMail(
    queries,
    mail.map(({ id }) => id),
  );
  const stops = mail.flatMap(({ message, place }) => (message.kind === 'stop' ? place : []));
  if (stops.length > 0)
    await changeKept(queries, rows, run, (kept) => ({
      ...kept,
      stop: Math.max(kept.stop, ...stops),
    }));
}

/** No single process carries a run in the database, so each stop is for all workers. */
const pidOf = (message: { readonly kind: string; readonly pid?: number }) => message.pid ?? 0;

/** Whether an input of a step comes from the worker that has the step. */
function isOurs(input: Input, claims: readonly Claim[]): boolean {
  if (!('step' in input)) return true;
  return claims.some(({ agent, step }) => agent === input.agent && step === input.step);
}

/** The ends of steps that wait in a queue and must not start any more. */
async function withdrawals(
  queries: Queries,
  run: Run,
  decided: readonly Decided[],
  at: number,
): Promise<readonly Input[]> {
  const isStopping = run.status.kind === 'stopping';
  const isStopped = ({ event }: Decided) => event.type === 'agent-stop-requested';
  if (!isStopping && !decided.some(isStopped)) return [];
  const waiting = await idleClaims(queries, run.id);
  const isOver = ({ agent }: Claim) => isStopping || run.agents.get(agent)?.stoppedBy !== undefined;
  return waiting
    .filter(isOver)
    .map((claim) => (claim.claim === 0 ? withdrawnEnd(claim, at) : lostEnd(claim, run, at)));
}

function withdrawnEnd({ agent, step }: StepKey, at: number): Input {
  return { kind: 'step-ended', at, agent, step, outcome: INTERRUPTED };
}

const INTERRUPTED = {
  kind: 'interrupted',
  sessionUsable: false,
  account: { cost: NO_COST },
} as const;

/** The end of a step whose worker has died, and which cannot be adopted. */
export function lostEnd(claim: Claim, run: Run, at: number): Input {
  const { agent, step, kind } = claim;
  if (kind === 'prompt') return withdrawnEnd(claim, at);
  const state = run.agents.get(agent)?.state ?? 'the script';
  const message = `It is unknown how ${state} ended: its worker died. Raymond repeats a script once in this case. If this happens again, check what the script has done, then run: raymond resume ${run.id}`;
  const outcome = {
    kind: 'failed',
    failure: { kind: 'lost', message },
    account: { cost: NO_COST },
  } as const;
  return { kind: 'step-ended', at, agent, step, outcome };
}

/** The step of a claim, unless this worker executes it already. */
function takenBy(
  claim: Claim,
  run: Run,
  { isHeld }: Turn,
  { place }: Claimant,
): readonly TakenStep[] {
  const status = run.agents.get(claim.agent)?.status;
  if (status?.kind !== 'running' || status.step !== claim.step || isHeld(claim)) return [];
  const how = claim.claim === 0 ? 'start' : claim.place === place ? 'adopt' : 'lost';
  return [{ ...claim, how }];
}

function startOf(event: RunEvent, continued: ReadonlySet<string>) {
  if (event.type !== 'step-started') return [];
  const { agent, step, session } = event;
  const kind: StepKind = session ? 'prompt' : 'script';
  return [{ agent, step, kind, isHere: continued.has(agent) }];
}
