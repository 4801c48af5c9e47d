/**
 * The acts of the commands for a program without a terminal, such as the server of a page. It owns no
 * run: runs are carried by background processes, and messages reach them through the store. Errors
 * that the user can fix are UserErrors.
 */
import type { RunEventOf } from '../model/event.ts';
import type { PermissionDecision } from '../model/permission.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import type { OpenRequest, Run } from '../model/run.ts';

export interface RunControl {
  /** Starts a workflow of the project. Resolves with the id of the run when it has begun. */
  start(workflow: string, options: GivenOptions, id?: string): Promise<string>;
  /** Continues a run. Resolves when it has begun to continue, or if it is completed. */
  resume(id: string, options: GivenOptions, consent: Consent): Promise<void>;
  /** Asks a run to stop. Resolves when it is asked, and not when it has stopped. */
  stop(id: string, how: 'drain' | 'now'): Promise<Stopping>;
  /** Answers the question of an agent, or the only question of the run. */
  answer(id: string, agent: string | undefined, text: string): Promise<Answered>;
  /** Takes a run back, and resolves with what it did. Rejects if a process works on the run. */
  rewind(
    id: string,
    request: RewindRequest,
    options: { readonly files: boolean },
  ): Promise<RunEventOf<'run-rewound'>>;
  /** The open questions of a run. */
  questions(run: Run): Promise<readonly WaitingQuestion[]>;
  /**
   * Decides about a permission request, or about the only one of the run or of the agent. `request` is
   * its id, or the beginning of that.
   */
  decide(id: string, wanted: WantedRequest, decision: PermissionDecision): Promise<Decided>;
  /** The open permission requests of a run. */
  requests(run: Run): Promise<readonly OpenPermission[]>;
}

export interface WantedRequest {
  readonly agent?: string | undefined;
  readonly request?: string | undefined;
}

export interface Decided extends Answered {
  readonly request: string;
}

export interface OpenPermission extends OpenRequest {
  readonly agent: string;
  readonly step: number;
  /** The mailbox contains a decision that the run has not used yet. */
  readonly isAnswered: boolean;
}

/**
 * Run options by their keys in config files; `set` is a list of `name=value`. Options that run
 * programs or give an agent more rights are refused: they need the command line.
 */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** The consent of the user. */
export interface Consent {
  readonly fresh?: boolean | undefined;
  readonly acceptChanges?: boolean | undefined;
  readonly trustRun?: boolean | undefined;
}

export interface Stopping {
  /** No process works on the run any more. */
  readonly isOver: boolean;
  /** Waits until the process has stopped. With `now`, kills it if it does not react. */
  wait(): Promise<'stopped' | 'killed'>;
}

export interface Answered {
  readonly agent: string;
  /** Whether a process works on the run. Otherwise the run uses the answer after a resume. */
  readonly isDelivered: boolean;
}

export interface WaitingQuestion {
  readonly agent: string;
  readonly question: string;
  readonly askedAt: number;
  readonly deadline: number | undefined;
  /** The mailbox contains an answer that the run has not used yet. */
  readonly isAnswered: boolean;
}
