/**
 * INV-11: No step starts before its decision is stored, and nothing is shown before it has happened.
 *
 * One turn of a run. It locks the run, follows the news, reads the mail, decides about everything that has
 * come or is due, and stores the decisions. Only then does it act on them and show them.
 *
 * How a run is locked and stored is a port. `holdAlone` is for a process that has the run for itself, and
 * `holdInDatabase` for workers that share it.
 */
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Observer, StepKey, StepKind } from '../ports.ts';
import type { Circumstances, Decided, Decider } from './decider.ts';
import { lostEnd, withdrawnEnd } from './ended-step.ts';
import type { Inbox } from './inbox.ts';
import { inputFrom, isSettled, type Mail } from './mail.ts';
import type { Steps } from './steps.ts';

/**
 * Locks a run for one turn. When this resolves, everything that the turn has stored exists. If it rejects,
 * nothing does. `decide` may be called again if nothing of the last call is left.
 */
export type HoldRun = <T>(
  inputs: readonly Input[],
  decide: (held: HeldTurn) => Promise<T>,
) => Promise<T>;

/** A run that is locked, with everything that has come for it. */
export interface HeldTurn extends Pick<Circumstances, 'at' | 'worker' | 'startsHere'> {
  /** It has followed the news. */
  readonly decider: Decider;
  /** The events that others have stored since the last turn. */
  readonly news: readonly Decided[];
  /** The inputs of this process that count: it still has their steps. */
  readonly inputs: readonly Input[];
  readonly mail: readonly Mail[];
  /** Whether an earlier process may have left anything here. */
  readonly isSuccession: boolean;
  /** Whether no other process can keep the steps that begin here from starting. So they are prepared meanwhile. */
  readonly isCertain: boolean;
  /** The steps that belong to this process and do not run here yet. */
  taken(run: Run): readonly TakenStep[];
  /** The steps that no process executes. */
  waiting(): Promise<readonly WaitingStep[]>;
  /** Called once. */
  store(decision: Decision): Promise<void>;
}

export interface TakenStep extends StepKey {
  readonly kind: StepKind;
  /** `lost` if another process had it, and its end cannot be known here. */
  readonly how: 'start' | 'adopt' | 'lost';
}

export interface WaitingStep extends StepKey {
  readonly kind: StepKind;
  readonly hasBegun: boolean;
}

export interface Decision {
  readonly decided: readonly Decided[];
  /** The run after it. */
  readonly run: Run;
  readonly taken: readonly TakenStep[];
  /** The mail that is over. */
  readonly settled: readonly Mail[];
  /** When the next turn is due at the latest; undefined if no time matters. */
  readonly nextLook: number | undefined;
}

export interface DecidingPorts extends Pick<Circumstances, 'newId' | 'patient'> {
  readonly hold: HoldRun;
  readonly steps: Pick<Steps, 'executors' | 'prepare'>;
  /** Whether a user may answer a question while the run waits. */
  readonly attended: () => boolean;
}

export interface TurnPorts extends DecidingPorts {
  readonly steps: Steps;
  readonly observer: Pick<Observer, 'event'>;
}

export interface StoredTurn extends Pick<Decision, 'decided' | 'run' | 'taken'> {
  /** The run after the news. */
  readonly before: Run;
  readonly news: readonly Decided[];
  readonly isSuccession: boolean;
}

/** Works on a run until it ends. Inputs that are already in the inbox, such as a resume, come first. */
export async function takeTurns(ports: TurnPorts, inbox: Inbox<Input>): Promise<Run> {
  let run = await takeTurn(ports, inbox.takeNow());
  while (run.status.kind !== 'ended') run = await takeTurn(ports, await inbox.take());
  return run;
}

export async function takeTurn(ports: TurnPorts, inputs: readonly Input[]): Promise<Run> {
  const { steps } = ports;
  const turn = await decideTurn(ports, inputs);
  const { before, run, news, decided, taken } = turn;
  if (steps.isOver) return run;
  if (turn.isSuccession) await steps.succeed(taken, before, run);
  else steps.take(taken, run);
  actOn(ports, news, decided);
  return run;
}

/** The part of a turn that is stored: everything except acting. */
export function decideTurn(
  { hold, steps, newId, attended, patient }: DecidingPorts,
  given: readonly Input[],
): Promise<StoredTurn> {
  return hold(given, async (held) => {
    const { at, decider, news, inputs, mail, worker, startsHere, isSuccession } = held;
    const before = decider.run;
    const decide = (about: readonly Input[]) =>
      decider.decide(about, {
        ...{ at, newId, worker, startsHere, patient },
        ...{ executors: steps.executors, attended: attended() },
      });
    const letters = mail.flatMap((letter) => inputFrom(letter, at) ?? []);
    // A resume comes first, so that its settings apply to everything else.
    const decided = [...decide([...inputs, ...letters])];
    const withdrawn = await withdrawals(held, decided);
    if (withdrawn.length > 0) decided.push(...decide(withdrawn));
    const taken = held.taken(decider.run);
    const begun = taken.flatMap(({ how, agent, step }) =>
      how === 'start' && worker !== undefined
        ? [{ kind: 'step-taken', at, agent, step, worker } as const]
        : [],
    );
    if (begun.length > 0) decided.push(...decide(begun));
    const { run } = decider;
    const settled = mail.filter((letter) => isSettled(letter, run));
    const stored = held.store({ decided, run, taken, settled, nextLook: decider.nextLook(at) });
    if (held.isCertain) for (const { event, after } of decided) steps.prepare(event, after);
    await stored;
    return { before, run, news, decided, taken, isSuccession };
  });
}

/** The ends of steps that wait for a process and must not start any more. */
async function withdrawals(
  { at, decider: { run }, waiting }: HeldTurn,
  decided: readonly Decided[],
): Promise<readonly Input[]> {
  const isStopping = run.status.kind === 'stopping';
  const isStopped = ({ event }: Decided) => event.type === 'agent-stop-requested';
  if (!isStopping && !decided.some(isStopped)) return [];
  const isOver = ({ agent }: StepKey) =>
    isStopping || run.agents.get(agent)?.stoppedBy !== undefined;
  return (await waiting())
    .filter(isOver)
    .map((step) => (step.hasBegun ? lostEnd(step, run, at) : withdrawnEnd(step, at)));
}

/** Acts on events that are stored: those of others, and those of this process. Steps of others are left alone. */
export function actOn(
  { steps, observer }: Pick<TurnPorts, 'steps' | 'observer'>,
  news: readonly Decided[],
  decided: readonly Decided[] = [],
): void {
  if (steps.isOver) return;
  const here = [
    ...news.filter(({ event }) => event.type !== 'step-started'),
    ...decided.filter(({ event }) => event.type !== 'step-started' || !event.queued),
  ];
  // The next steps begin before anything is shown, because showing takes time.
  for (const { event, after } of here) steps.act(event, after);
  for (const { event, before, after } of here) observer.event(event, before, after);
}
