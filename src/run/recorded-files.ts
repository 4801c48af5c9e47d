import type { Input } from '../model/input.ts';
import { messageOf } from '../model/message-of.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import type { Account } from '../model/step-account.ts';
import type { StepKey } from '../ports.ts';
import type { Inbox } from './inbox.ts';
import type { StepsPorts } from './steps.ts';

type RecordedFilesPorts = Pick<StepsPorts, 'files' | 'clock' | 'live'>;

/**
 * Records the files before and after the steps of a run, so that it can be rewound. A record takes as
 * long as `git status`. That is negligible for a prompt, but a script may take only 2 ms, so a script
 * gets a record only after it has run for a while.
 */
export class RecordedFiles {
  readonly #inbox: Inbox<Input>;
  readonly #ports: RecordedFilesPorts;
  /** The newest record of each working tree in which no step has started since then. */
  readonly #fresh = new Map<string, { readonly tree: string; readonly at: number }>();
  /** The trees that cannot be recorded. */
  readonly #hopeless = new Set<string>();

  constructor(inbox: Inbox<Input>, ports: RecordedFilesPorts) {
    this.#inbox = inbox;
    this.#ports = ports;
  }

  /** Whether a step starts without a record of the files before it. */
  passOver({ settings: { checkpoints } }: Run, { session }: RunningStatus): boolean {
    if (!this.#ports.files || checkpoints === 'none') return true;
    if (session || checkpoints === 'steps') return false;
    this.#fresh.clear();
    return true;
  }

  /** Records the files that a step finds. */
  async before(run: Run, agent: Agent, status: RunningStatus): Promise<void> {
    const { files, clock } = this.#ports;
    const root = this.passOver(run, status) ? undefined : files?.rootOf(agent.cwd);
    if (root === undefined) return;
    const { step } = status;
    const fresh = this.#fresh.get(root);
    const isFresh = fresh && clock.now() - fresh.at < FRESH_MS;
    const tree = isFresh ? fresh.tree : await this.#record(root, { agent: agent.id, step });
    this.#fresh.delete(root);
    if (tree === undefined) return;
    this.#inbox.put({ kind: 'files-recorded', at: clock.now(), agent: agent.id, step, tree });
  }

  /** Records the files that a step leaves. */
  async after(
    { settings: { checkpoints } }: Run,
    agent: Agent,
    { step, session, startedAt }: RunningStatus,
  ): Promise<Pick<Account, 'tree'>> {
    const { files, clock } = this.#ports;
    if (!files || checkpoints === 'none') return {};
    const isLong = clock.now() - startedAt >= LONG_SCRIPT_MS;
    if (!session && checkpoints !== 'steps' && !isLong) return {};
    const root = files.rootOf(agent.cwd);
    if (root === undefined) return {};
    const at = clock.now();
    const tree = await this.#record(root, { agent: agent.id, step });
    if (tree === undefined) return {};
    this.#fresh.set(root, { tree, at });
    return { tree };
  }

  /** A tree that failed once would fail every time, and might take a minute to do so. */
  async #record(root: string, step: StepKey): Promise<string | undefined> {
    const { files, live } = this.#ports;
    if (!files || this.#hopeless.has(root)) return undefined;
    return files.record(root).catch((error) => {
      this.#hopeless.add(root);
      const text = `the files of ${root} cannot be recorded, so a rewind will leave them alone: ${messageOf(error)}`;
      live(step, { kind: 'note', text });
      return undefined;
    });
  }
}

/** A person may change files between two steps that follow each other less closely. */
const FRESH_MS = 1_000;
const LONG_SCRIPT_MS = 1_000;
