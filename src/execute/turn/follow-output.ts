/** Follows a turn in the output of its process, for agents that write one message per line. */
import { printedTexts } from '../../parse/print-pieces.ts';
import { printStream } from '../../parse/print-stream.ts';
import type { Live } from '../../ports.ts';
import { type Exit, follow, type LaunchedProcess } from '../process/index.ts';
import type { Followed, Turning } from './turn-executor.ts';

interface OutputReader {
  /** The offset in the output at which the turn begins. */
  readonly from: number;
  /** Reads a piece of the output. It may end in the middle of a line. */
  read(piece: Buffer | string): void;
  isOver(): boolean;
  /** `leave`: the process stays after its turn. `wait`: it may take a moment to end. */
  readonly atEnd: 'leave' | 'wait';
  /** The turn is over, and the process is waited for. */
  onOver?(): void;
}

export interface FollowedOutput extends Followed {
  /** The length of the output that was read when the turn ended. */
  readonly offset: number;
}

export async function followOutput(
  turning: Turning,
  launched: LaunchedProcess,
  reader: OutputReader,
): Promise<FollowedOutput> {
  const silence = turning.watchSilence(launched);
  let offset = reader.from;
  let exit: Exit | undefined;
  let timer: NodeJS.Timeout | undefined;
  let enough = () => {};
  const until = new Promise<void>((resolve) => {
    enough = resolve;
  });
  void launched.ended.then((how) => {
    exit = how;
    enough();
  });
  try {
    for await (const chunk of follow(launched.stdout, { from: offset, until })) {
      offset += chunk.length;
      reader.read(chunk);
      if (!reader.isOver()) continue;
      silence.end();
      if (reader.atEnd === 'leave') break;
      if (!timer) reader.onOver?.();
      timer ??= setTimeout(enough, EXIT_GRACE_MS);
    }
    // The last line may have no end.
    reader.read('\n');
  } catch {
    // The output cannot be read, so only the exit of the process decides.
  }
  silence.end();
  clearTimeout(timer);
  return { offset, exit, silent: silence.isSilent };
}

/** How long a process may take to exit after its turn. */
const EXIT_GRACE_MS = 5_000;

/** Shows a text of the model, and what it prints. */
export function textShower(live: (live: Live) => void): (text: string) => void {
  const prints = printStream();
  return (text) => {
    live({ kind: 'text', text });
    for (const printed of printedTexts(prints.push(text))) live({ kind: 'print', text: printed });
  };
}
