import { UserError } from './user-error.ts';

/** The run is no longer this process's: nothing may be written or started any more. */
export class RunLost extends UserError {
  /** Who has it now, as far as is known. */
  readonly owner: NewOwner | undefined;
  /** Whether that process can see our steps, so that they are its own now. */
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
