/**
 * The files in the folder of a step, each once. Beside them, a process leaves `exit-<pid>` (see
 * `execute/process/record.ts`).
 */
export interface StepFile {
  readonly name: string;
  /** Only a prompt step has it. */
  readonly isOfPrompt?: true;
  /** Kept and compressed when a prompt step is old. */
  readonly isCompressed?: true;
}

export const STEP_FILES = {
  /** Identifies the process. */
  process: { name: 'process.json' },
  /** The command for the launcher, the identity of its process, and how it ended. */
  launch: { name: 'launch' },
  /** The launcher must not start the command. */
  withdrawn: { name: 'withdrawn' },
  /** Why Raymond stopped it, written before the first signal. */
  stopped: { name: 'stopped' },
  /** A FIFO, while the process that reads it lives. */
  stdin: { name: 'stdin' },
  stdout: { name: 'stdout', isCompressed: true },
  stderr: { name: 'stderr', isCompressed: true },
  /** The value that a script receives. */
  input: { name: 'input' },
  /** The facts that adopting a turn needs. */
  turn: { name: 'turn.json', isOfPrompt: true },
  /** The place of the agent's own messages. */
  raw: { name: 'raw.json', isOfPrompt: true },
  /** The text that was sent to the agent. */
  prompt: { name: 'prompt', isOfPrompt: true, isCompressed: true },
  /** The final message of a prompt. */
  answer: { name: 'answer', isOfPrompt: true, isCompressed: true },
} as const satisfies Readonly<Record<string, StepFile>>;
