import type { Needs } from '../interpret/needs.ts';
import type { RunEvent } from '../model/event.ts';
import type { Facts, Input, Located, WorktreeFact } from '../model/input.ts';
import { messageOf } from '../model/message-of.ts';
import type { Agent, Run } from '../model/run.ts';
import type { AgentWorktree, WorktreeLook } from '../model/worktree.ts';
import type { Making, RunningStep } from '../ports.ts';
import { failedStep, interruptedStep } from './ended-step.ts';
import type { Inbox } from './inbox.ts';
import type { StepsPorts } from './steps.ts';

type AgentTreesPorts = Pick<StepsPorts, 'worktrees' | 'clock' | 'live'>;

/**
 * The worktrees of a run's agents. A worktree is created before its agent's first step and inspected
 * when a step ends. An event removes it, and an input reports when it is removed.
 */
export class AgentTrees {
  readonly #inbox: Inbox<Input>;
  readonly #ports: AgentTreesPorts;
  readonly #making = new Map<string, Making>();
  readonly #removing = new Set<Promise<void>>();
  readonly #stopped = new Set<string>();

  constructor(inbox: Inbox<Input>, ports: AgentTreesPorts) {
    this.#inbox = inbox;
    this.#ports = ports;
  }

  act(event: RunEvent, run: Run): void {
    const isOver = event.type === 'agent-ended' || event.type === 'agent-stopped';
    if (isOver && event.worktree === 'removing') this.#remove(run, event.agent);
  }

  /** Removes what a killed process was about to remove. */
  catchUp(run: Run): void {
    if (run.removals === 0) return;
    for (const [id, { worktree }] of run.endedAgents)
      if (worktree?.fate === 'removing') this.#remove(run, id);
  }

  /** The facts about the worktrees that an answer asks for. */
  async facts(
    needed: Needs['worktrees'],
    cwd: string,
    directories: Facts['directories'],
  ): Promise<Facts['worktrees']> {
    const found = new Map<string, Located<WorktreeFact>>();
    for (const [key, { cd, base }] of needed) {
      const directory = cd === undefined ? { found: true, path: cwd } : directories.get(cd);
      // A missing directory is refused for that reason.
      if (!directory?.found || directory.path === undefined) continue;
      found.set(key, await this.#find(directory.path, base));
    }
    return found;
  }

  /** Whether steps have to wait for the removal of a worktree. */
  get isRemoving(): boolean {
    return this.#removing.size > 0;
  }

  /** Creates the worktree in which an agent's step runs. Returns the end of the step if that fails. */
  async prepare(agent: Agent, step: number): Promise<RunningStep | undefined> {
    await Promise.all(this.#removing);
    const { id, worktree, cwd } = agent;
    if (!worktree?.tree) return undefined;
    const { worktrees, live } = this.#ports;
    if (!worktrees) return failed('Worktrees are not created here.');
    const making = worktrees.make(id, worktree, cwd);
    this.#making.set(id, making);
    if (this.#stopped.has(id)) making.stop();
    const problem = await making.done;
    this.#making.delete(id);
    if (this.#stopped.has(id)) return interruptedStep();
    if (problem !== undefined) return failed(problem);
    if (!worktree.wasSeen) live({ agent: id, step }, { kind: 'note', text: placeOf(worktree) });
    return undefined;
  }

  /** Undefined if the agent has no worktree, or if it cannot be inspected. */
  async look({ id, worktree }: Agent, step: number): Promise<WorktreeLook | undefined> {
    if (!worktree?.tree) return undefined;
    const { worktrees, live } = this.#ports;
    return worktrees?.look(id, worktree).catch((error) => {
      const text = `its worktree cannot be checked: ${messageOf(error)}`;
      live({ agent: id, step }, { kind: 'note', text });
      return undefined;
    });
  }

  stop(agent: string): void {
    this.#stopped.add(agent);
    this.#making.get(agent)?.stop();
  }

  async close(): Promise<void> {
    await Promise.all(this.#removing);
  }

  async #find(directory: string, base: string | undefined): Promise<Located<WorktreeFact>> {
    const { worktrees } = this.#ports;
    if (!worktrees) return { found: true, tree: undefined };
    const found = await worktrees.find(directory, base);
    return found.found ? { found: true, tree: found } : found;
  }

  #remove(run: Run, agent: string): void {
    const worktree = run.endedAgents.get(agent)?.worktree;
    if (!worktree) return;
    const { worktrees, clock } = this.#ports;
    const removal = async () => {
      const kept = worktrees ? await worktrees.remove(agent, worktree) : 'no worktrees here';
      this.#inbox.put({ kind: 'worktree-settled', at: clock.now(), agent, kept });
    };
    const removing = removal().finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }
}

const placeOf = ({ branch, tree }: AgentWorktree) =>
  `works in ${tree?.path} on the branch ${branch}`;

const failed = (message: string) => failedStep(message, 'bad-worktree');
