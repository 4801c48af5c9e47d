import { UserError } from './user-error.ts';

/** This process no longer owns the run: it must not write or start anything. */
export class RunLost extends UserError {
  /** The new owner, if it is known. */
  readonly owner: NewOwner | undefined;
  /** Whether the new owner can see the steps of this process, and has therefore adopted them. */
  readonly leavesSteps: boolean;

  constructor(
    code: string,
    message: string,
    remedy: string,
    now: { readonly owner?: NewOwner | undefined; readonly leavesSteps?: boolean } = {},
  ) {
    super(code, message, remedy);
    this.owner = now.owner;
    this.leavesSteps = now.leavesSteps ?? false;
  }
}

interface NewOwner {
  readonly pid: number;
  readonly host?: string | undefined;
}
