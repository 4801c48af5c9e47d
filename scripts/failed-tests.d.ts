export interface Failure {
  readonly file: string;
  readonly name: string;
  readonly message: string;
  /** What it reported in the first run, if it failed in both. */
  readonly firstMessage?: string;
}

export interface Report {
  readonly failures: readonly Failure[];
  /** Errors that no test is responsible for. */
  readonly otherErrors: readonly string[];
}

export const MOST_REPEATED: number;
export function filesToRepeat(report: Report | undefined): string[];
export function compareRuns(
  first: Report,
  second: Report | undefined,
): { readonly failed: readonly Failure[]; readonly unsteady: readonly Failure[] };
export function everyFailure(report: Report): readonly Failure[];
export function failedText(failures: readonly Failure[]): string;
export function unsteadyText(failures: readonly Failure[]): string;
