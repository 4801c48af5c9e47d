/**
 * The files in the folder of a step, each once. Beside them, a process leaves `exit-<pid>` or
 * `unstarted-<pid>` (see `execute/process/record.ts`).
 */
export interface StepFile {
  readonly name: string;
  /** Only a prompt step has it. */
  readonly isOfPrompt?: true;
  /** Kept and compressed when a prompt step is old. */
  readonly isCompressed?: true;
}

export const STEP_FILES = {
  /** Which process it is. */
  process: { name: 'process.json' },
  /** What the launcher was asked to run, which process it is, and how it ended. */
  launch: { name: 'launch' },
  /** The launcher must not begin what it was asked to run. */
  withdrawn: { name: 'withdrawn' },
  /** Why Raymond stopped it, written before the first signal. */
  stopped: { name: 'stopped' },
  stdout: { name: 'stdout', isCompressed: true },
  stderr: { name: 'stderr', isCompressed: true },
  /** The value that a script receives. */
  input: { name: 'input' },
  /** What has to be known of a turn to adopt it. */
  turn: { name: 'turn.json', isOfPrompt: true },
  /** Where the agent's own messages stand. */
  raw: { name: 'raw.json', isOfPrompt: true },
  /** The final message of a prompt. */
  answer: { name: 'answer', isOfPrompt: true, isCompressed: true },
} as const satisfies Readonly<Record<string, StepFile>>;
