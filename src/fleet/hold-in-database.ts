/**
 * INV-35: One transaction takes inputs, decides, stores the events and gives each new step to a queue or
 * to this worker. A worker that has been declared dead changes nothing any more.
 *
 * Turns of a worker that shares a run with others. The same inputs a second time change nothing. An input
 * applies only while this worker has the claim of its step, and `interpret` ignores what no longer applies.
 */
import { isPromptNext } from '../interpret/start-step.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { StepKey, StepKind, WorkflowLibrary } from '../ports.ts';
import type { Database, Queries, Transaction } from '../postgres/database.ts';
import { changeKept, type Head } from '../postgres/head.ts';
import {
  type Mail as MailInDatabase,
  type OpenLetter,
  openMail,
  refuseMail,
  removeMail,
  waitingMail,
} from '../postgres/mailbox.ts';
import { appendEvents, type RunParts } from '../postgres/run-row.ts';
import type { RowSeals } from '../postgres/seals.ts';
import type { Decided, Decider } from '../run/decider.ts';
import type { Decision, HeldTurn, HoldRun, TakenStep } from '../run/turn.ts';
import { keepSource } from './belongings.ts';
import { add, begin, type Claim, type Claimant, claimsOf, end, idleClaims } from './claims.ts';
import type { KnownRun } from './known-run.ts';
import { lockRun } from './lock-run.ts';
import type { RunPorts } from './ports.ts';
import { wakeAt } from './wakeups.ts';

/** The part of a worker that a turn asks. */
export interface Sharing {
  /** Whether the step is known to run on this worker. */
  readonly isHeld: (step: StepKey) => boolean;
  /** Whether this worker continues with the next step of an agent whose step ends now. */
  readonly mayContinue: (agent: string, kind: StepKind) => boolean;
  /** Stores what a step left behind, together with its end. */
  readonly keep: (queries: Transaction, step: StepKey) => Promise<void>;
  /** The turn is stored. Nothing has acted on it yet. */
  readonly onStored: (turn: SharedTurn) => void;
}

export interface SharedTurn extends Pick<Decision, 'decided' | 'taken'> {
  readonly news: readonly Decided[];
  /** Whether steps wait for any worker. */
  readonly isWaiting: boolean;
  /** Whether the mail had rows that are no messages of the user. */
  readonly hasRefusedMail: boolean;
}

export interface SharedParts {
  readonly database: Database;
  readonly runs: RunParts;
  readonly worker: Claimant & { readonly name: string };
  readonly library: Pick<WorkflowLibrary, 'get'>;
  /** Loads the workflows that a run has read elsewhere. */
  readonly load: (run: Run) => Promise<void>;
  readonly pack: RunPorts['pack'];
  readonly openLetter: OpenLetter;
}

/** `known` is any earlier state of the run. A turn rejects with WorkerLost, RunGone, RunBusy or RunChanged. */
export function holdInDatabase(parts: SharedParts, known: KnownRun, sharing: Sharing): HoldRun {
  return async (inputs, decide) => {
    const { result, stored } = await parts.database.repeatable(async (queries) => {
      let stored: Stored | undefined;
      const result = await decide(
        await lock(parts, known, sharing, inputs, queries, (turn) => {
          stored = turn;
        }),
      );
      return { result, stored };
    });
    if (stored) {
      known.keep(stored.decider, stored.head);
      sharing.onStored(stored);
    }
    return result;
  };
}

interface Stored extends SharedTurn {
  /** For the next turn. */
  readonly decider: Decider;
  readonly head: Head;
}

async function lock(
  parts: SharedParts,
  known: KnownRun,
  sharing: Sharing,
  inputs: readonly Input[],
  queries: Transaction,
  onStored: (turn: Stored) => void,
): Promise<HeldTurn> {
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
  const letters = mail.map((one) => ({ ...one, pid: pidOf(one) }));

  const ours = inputs.filter((input) => isOurs(input, claims));
  const ending = new Set(ours.flatMap((one) => (one.kind === 'step-ended' ? one.agent : [])));
  return {
    ...{ at, decider, news, inputs: ours, mail: letters, worker: worker.name },
    // The life of a worker ends what an earlier one has left.
    isSuccession: false,
    // The transaction may be repeated, and decide otherwise.
    isCertain: false,
    startsHere(agentId) {
      const agent = decider.run.agents.get(agentId);
      if (!agent || !ending.has(agentId)) return false;
      const isPrompt = isPromptNext((ref) => library.get(ref), agent);
      return sharing.mayContinue(agentId, isPrompt ? 'prompt' : 'script');
    },
    taken: (run) => claims.flatMap((claim) => takenBy(claim, run, sharing, worker)),
    waiting: async () =>
      (await idleClaims(queries, id)).map((claim) => ({ ...claim, hasBegun: claim.claim > 0 })),
    async store({ decided, run, taken, settled, nextLook }) {
      const started = decided.flatMap(startOf);
      let head: Head = row;
      if (decided.length > 0) {
        const events = decided.map(({ event }) => event);
        head = await appendEvents(queries, parts.runs, row, events, run);
        for (const event of events)
          if (event.type === 'workflow-read')
            await keepSource(queries, rows, id, event.workflow, parts.pack);
        const ended = events.filter(isStepEnd);
        end(queries, id, ended);
        for (const step of ended) await sharing.keep(queries, step);
        add(queries, id, worker, started);
      }
      begin(queries, id, worker, taken);
      const isWaiting = started.some(({ isHere }) => !isHere);
      if (isWaiting) queries.announce(`work ${id}`);
      const over = letters.filter((letter) => settled.includes(letter));
      if (over.length > 0) await settle(queries, rows, id, over);
      if (refused.length > 0) await refuseMail(queries, refused);
      wakeAt(queries, id, nextLook);
      const hasRefusedMail = refused.length > 0;
      onStored({ news, decided, taken, isWaiting, hasRefusedMail, decider, head });
    },
  };
}

/** Removes messages that are over. */
async function settle(
  queries: Queries,
  rows: RowSeals,
  run: string,
  mail: readonly MailInDatabase[],
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
const pidOf = ({ message }: MailInDatabase) => (message.kind === 'stop' ? message.pid : 0);

/** Whether an input of a step comes from the worker that has the step. */
function isOurs(input: Input, claims: readonly Claim[]): boolean {
  if (!('step' in input)) return true;
  return claims.some(({ agent, step }) => agent === input.agent && step === input.step);
}

/** The step of a claim, unless this worker executes it already. */
function takenBy(
  claim: Claim,
  run: Run,
  { isHeld }: Sharing,
  { place }: Claimant,
): readonly TakenStep[] {
  const status = run.agents.get(claim.agent)?.status;
  if (status?.kind !== 'running' || status.step !== claim.step || isHeld(claim)) return [];
  const how = claim.claim === 0 ? 'start' : claim.place === place ? 'adopt' : 'lost';
  return [{ ...claim, how }];
}

function startOf({ event }: Decided) {
  if (event.type !== 'step-started') return [];
  const { agent, step, session, queued } = event;
  const kind: StepKind = session ? 'prompt' : 'script';
  return [{ agent, step, kind, isHere: !queued }];
}
