import { playedSignatures } from '../model/approval.ts';
import type { RunEvent, RunEventOf } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import { lastLimit, NO_LIMITS } from '../model/limits.ts';
import type { Run } from '../model/run.ts';
import type { Recorded } from '../parse/test-file.ts';
import { Inbox } from '../run/inbox.ts';
import { endOf } from '../run/open-waits.ts';
import type { PlayInbox } from './play.ts';

/**
 * Delivers inputs to a run in the order of a recording. Inputs that arrived together are delivered
 * together. Early inputs are held back. When the input that the recording expects next can no longer
 * arrive, the run has left the recording. All held inputs are then delivered, and the run is stopped.
 */
export class ReplayInbox extends Inbox<Input> implements PlayInbox {
  readonly #groups: readonly (readonly Recorded[])[];
  /** The remaining replies by agent. */
  readonly #replies: Map<string, string[]>;
  readonly #held = new Map<string, Input>();
  #run: Run | undefined;
  #next = 0;
  #delivered = 0;
  #isBusy = false;
  #departure: string | undefined;

  constructor(recorded: readonly Recorded[]) {
    super();
    this.#groups = groupsOf(recorded);
    this.#replies = repliesIn(recorded);
  }

  /** Where and how the run left the recording; undefined when it followed it to the end. */
  get departure(): string | undefined {
    const left = this.#groups[this.#next]?.[0];
    if (this.#departure !== undefined || !left) return this.#departure;
    return `The run ended before entry ${this.#delivered + 1} of the recording, ${shown(left)}.`;
  }

  override put(input: Input): void {
    const key = keyOfInput(input);
    if (input.kind === 'stop') this.#giveUp('The replay was stopped.');
    if (key === undefined || this.#departure !== undefined) {
      super.put(input);
    } else {
      this.#held.set(key, input);
      this.#release();
    }
  }

  journaled(events: readonly RunEvent[], after: Run): void {
    this.#run = after;
    for (const event of events) if (event.type === 'agent-asked') this.#prepareReply(event);
    this.#release();
  }

  isAttended(): boolean {
    return this.#replies.size > 0;
  }

  /** It may never be delivered: a question can also time out. */
  #prepareReply({ agent, at, approval }: RunEventOf<'agent-asked'>): void {
    const text = this.#replies.get(agent)?.[0];
    if (text === undefined) return;
    const signatures = playedSignatures(approval);
    const answer = { at, agent, askedAt: at, text, signatures };
    this.#held.set(`reply ${agent}`, { kind: 'person-answered', ...answer });
  }

  #release(): void {
    if (this.#isBusy || this.#departure !== undefined) return;
    const group = this.#groups[this.#next];
    if (group?.every((entry) => this.#inputOf(entry))) {
      this.#next += 1;
      this.#delivered += group.length;
      for (const entry of group) {
        if ('entered' in entry) this.#replaceDigest(keyOf(entry), entry.entered);
        this.#let(entry);
        if ('reply' in entry) this.#forgetReply(entry.agent);
      }
      this.#waitForTheLoop();
    } else if (this.#isStuck()) {
      this.#depart(group);
    }
  }

  /** The loop takes all pending inputs. So the next group must wait until the loop has taken this one. */
  #waitForTheLoop(): void {
    this.#isBusy = true;
    setImmediate(() => {
      this.#isBusy = false;
      this.#release();
    });
  }

  #forgetReply(agent: string): void {
    const [, ...left] = this.#replies.get(agent) ?? [];
    if (left.length > 0) this.#replies.set(agent, left);
    else this.#replies.delete(agent);
  }

  /** A test has other files than the recorded run. */
  #replaceDigest(key: string, digest: string): void {
    const input = this.#held.get(key);
    if (input?.kind === 'state-entered') this.#held.set(key, { ...input, digest });
  }

  #let(entry: Recorded): void {
    const input = this.#inputOf(entry);
    this.#held.delete(keyOf(entry));
    if (input) super.put(input);
  }

  /** What an entry stands for, if it has come. Time comes when the recording says so: see `stillClock`. */
  #inputOf(entry: Recorded): Input | undefined {
    if (!('came' in entry)) return this.#held.get(keyOf(entry));
    if (!('agent' in entry)) {
      const at = lastLimit(this.#run?.limits ?? NO_LIMITS);
      return at === undefined ? undefined : { kind: 'usage-limit-over', at };
    }
    const { agent } = entry;
    const at = endOf(this.#run?.agents.get(agent)?.status);
    return at === undefined ? undefined : { kind: 'time-came', at, agent };
  }

  /** Every running step has ended and is held back, so nothing else can come. */
  #isStuck(): boolean {
    if (!this.#run || this.#run.status.kind === 'ended') return false;
    const { promptsRunning, scriptsRunning } = this.#run.tally;
    const ended = [...this.#held.values()].filter(({ kind }) => kind === 'step-ended').length;
    return ended >= promptsRunning + scriptsRunning;
  }

  #depart(group: readonly Recorded[] | undefined): void {
    const missing = group?.find((entry) => !this.#inputOf(entry));
    const came = [...this.#held.keys()].join(', ') || 'nothing';
    const what = missing
      ? `Entry ${this.#delivered + 1} of the recording, ${shown(missing)}, never arrived. Arrived instead: ${came}.`
      : `The recording has ended, but more arrived: ${came}.`;
    this.#giveUp(what);
    super.put({ kind: 'stop', at: this.#run?.updatedAt ?? 0, how: 'drain' });
  }

  /** From here on, the order is not preserved. */
  #giveUp(why: string): void {
    this.#departure ??= why;
    for (const [key, input] of [...this.#held]) {
      if (key.startsWith('reply ')) continue;
      this.#held.delete(key);
      super.put(input);
    }
  }
}

/** Inputs that arrived before another step started form one group. */
function groupsOf(recorded: readonly Recorded[]): (readonly Recorded[])[] {
  const groups: Recorded[][] = [];
  for (const entry of recorded) {
    const last = groups.at(-1);
    if (last && 'together' in entry && entry.together) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function repliesIn(recorded: readonly Recorded[]): Map<string, string[]> {
  const replies = new Map<string, string[]>();
  for (const entry of recorded) {
    if ('reply' in entry)
      replies.set(entry.agent, [...(replies.get(entry.agent) ?? []), entry.reply]);
  }
  return replies;
}

function keyOf(entry: Recorded): string {
  if ('state' in entry) return `end of a step of ${entry.agent}`;
  if ('reply' in entry) return `reply ${entry.agent}`;
  if ('entered' in entry) return `entry of ${entry.agent}`;
  return 'agent' in entry ? `time for ${entry.agent}` : 'end of the usage limit';
}

function keyOfInput(input: Input): string | undefined {
  switch (input.kind) {
    case 'step-ended':
      return `end of a step of ${input.agent}`;
    case 'state-entered':
      return `entry of ${input.agent}`;
    default:
      return undefined;
  }
}

function shown(entry: Recorded): string {
  return 'state' in entry ? `the end of ${entry.state} of ${entry.agent}` : `the ${keyOf(entry)}`;
}
