/** The things that follow a run when its next step happens on another machine. */
import type { StepKey } from './run-store.ts';

/** Takes the sessions of an agent from one machine to another. */
export interface SessionTravel {
  /**
   * Everything that is needed to continue or branch a session elsewhere, after a step that used it.
   * Undefined if it cannot be found.
   */
  pack(session: string, after: UsedBy): Promise<Uint8Array | undefined>;
  /** Makes a session usable for a step. Replaces an older copy of it. */
  unpack(session: string, packed: Uint8Array, before: NeededBy): Promise<void>;
}

/** A step that has ended: its directory, its folder, and whether it gave an answer. */
export interface UsedBy {
  /** Removes secrets. Undefined if that is not possible: then the session must not leave its machine. */
  readonly clean: (bytes: Uint8Array) => Uint8Array | undefined;
  readonly cwd: string;
  readonly folder: string;
  readonly isAnswered: boolean;
}

export interface NeededBy {
  readonly cwd: string;
  /** The folder of the earlier attempt that used the session, if the step repeats one. */
  readonly previousFolder: string | undefined;
}

/** The stored sessions of a run. */
export interface CarriedSessions {
  /** Undefined if no step of the run has used the session. */
  newest(session: string): Promise<StoredSession | undefined>;
  /** Gets the session of a step before its outcome settles. It is stored together with the step's end. */
  keep(step: StepKey, packed: PackedSession): void;
}

export interface StoredSession {
  readonly executor: string;
  /** Of the content. */
  readonly sha256: string;
  /** Empty if the session cannot leave its machine. */
  content(): Promise<Uint8Array>;
}

export interface PackedSession {
  readonly session: string;
  readonly executor: string;
  readonly sha256: string;
  readonly content: Uint8Array;
}

/**
 * Where a run works on this machine. Events have the paths of the machine where the run began. Outside
 * of the files that travel, a path is the same everywhere.
 */
export interface RunPlace {
  /** The path on this machine of a path of the run. */
  toLocal(path: string): string;
  toRun(path: string): string;
  /**
   * Brings the newest files of a directory of the run here, for one step. Waits while a step on another
   * machine works on them. A step that has begun keeps the files that it finds. Resolves with what
   * prevents it, if anything does.
   */
  enter(
    step: StepKey,
    directory: string,
    how: { readonly signal: AbortSignal; readonly hasBegun: boolean },
  ): Promise<string | undefined>;
  /** Sends the files to where other machines find them. Resolves with what prevents it, if anything does. */
  leave(step: StepKey, directory: string, signal: AbortSignal): Promise<string | undefined>;
}

/** The stored snapshots of the working trees of a run. */
export interface CarriedRoots {
  /** Reserves a working tree for a step, until its end is stored. Undefined while another worker has it. */
  hold(step: StepKey, root: string): Promise<HeldRoot | undefined>;
  /** `newest` gives the snapshot that is stored together with the step's end. */
  keep(step: StepKey, root: string, newest: () => string): void;
}

export interface HeldRoot {
  /** The newest one that is stored. */
  readonly snapshot: string;
  /** The steps of this worker that have the tree. Their ends are not stored yet. */
  readonly holders: readonly HolderOfRoot[];
}

export interface HolderOfRoot extends StepKey {
  /** It has begun in the place of this worker, maybe in an earlier life. */
  readonly hasBegunHere: boolean;
}
