/** Follows a turn in the output of its process. */
import { StringDecoder } from 'node:string_decoder';
import { printedTexts } from '../../parse/print-pieces.ts';
import { printStream } from '../../parse/print-stream.ts';
import type { Live } from '../../ports.ts';
import { isDisplaced } from '../displaced-output.ts';
import { tailIfReadable } from '../file-text.ts';
import { type Exit, follow, type LaunchedProcess, turnEnd, watchIdle } from '../process/index.ts';
import type { Tokens } from '../token-price.ts';
import { type Happening, messageReader } from './messages.ts';

export interface FollowedTurn {
  /** The thread, once codex has named it. */
  readonly thread: string | undefined;
  /** The prompt is in the thread. */
  readonly hasPrompt: boolean;
  /** The last message of the model. */
  readonly text: string | undefined;
  readonly end: Extract<Happening, { kind: 'completed' | 'failed' }> | undefined;
  readonly totals: Tokens | undefined;
  /** The end of standard error, if the turn has no end. */
  readonly complaint: string;
  /** How the process ended; undefined if it did not exit after the end of the turn. */
  readonly exit: Exit | undefined;
  readonly bytes: number;
  readonly silent: boolean;
}

export async function followTurn(
  launched: LaunchedProcess,
  idleTimeoutMs: number,
  live: (live: Live) => void,
): Promise<FollowedTurn> {
  const read = messageReader();
  const decoder = new StringDecoder('utf8');
  const prints = printStream();
  let thread: string | undefined;
  let hasPrompt = false;
  let text: string | undefined;
  let end: FollowedTurn['end'];
  let bytes = 0;
  let silent = false;
  const over = turnEnd(launched);
  const cancelIdle = watchIdle({
    files: [launched.stdout.path, launched.stderr.path],
    idleTimeoutMs,
    onIdle: () => {
      silent = true;
      void launched.stop();
    },
  });
  const handle = (happening: Happening) => {
    switch (happening.kind) {
      case 'thread':
        thread = happening.id;
        return;
      case 'turn':
        hasPrompt = true;
        return;
      case 'text':
        text = happening.text;
        live({ kind: 'text', text });
        for (const printed of printedTexts(prints.push(text)))
          live({ kind: 'print', text: printed });
        return;
      case 'tool':
        return live(happening);
      case 'error':
        return live({ kind: 'note', text: `codex says: ${happening.message.slice(0, 300)}` });
      case 'completed':
      case 'failed':
        end = happening;
        cancelIdle();
        over.afterGrace();
    }
  };
  try {
    for await (const chunk of follow(launched.stdout, { until: over.promise })) {
      bytes += chunk.length;
      for (const happening of read(decoder.write(chunk))) handle(happening);
    }
    for (const happening of read('\n')) handle(happening);
  } catch {
    // The output cannot be read, so only the exit of the process decides.
  }
  cancelIdle();
  over.forget();
  isDisplaced(launched, live);
  const totals = end?.kind === 'completed' ? end.totals : undefined;
  const complaint = end ? '' : tailIfReadable(launched.stderr);
  return { thread, hasPrompt, text, end, totals, complaint, exit: over.exit(), bytes, silent };
}
