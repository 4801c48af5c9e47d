/** Follows one turn in a process's output, from its prompt to its result. */
import { StringDecoder } from 'node:string_decoder';
import { printedTexts } from '../../parse/print-pieces.ts';
import { printStream } from '../../parse/print-stream.ts';
import type { Live } from '../../ports.ts';
import { isDisplaced } from '../displaced-output.ts';
import { tailIfReadable } from '../file-text.ts';
import {
  type Exit,
  follow,
  type LaunchedProcess,
  signalOf,
  turnEnd,
  watchIdle,
} from '../process/index.ts';
import { type Happening, messageReader } from './messages.ts';
import { type TurnOutcome, turnRecord } from './outcome.ts';
import { alreadyCounted } from './price.ts';
import { endInput } from './process-input.ts';
import type { TurnFile } from './turn-file.ts';
import type { TurnPermissions } from './turn-permissions.ts';

export interface FollowedTurn {
  readonly outcome: TurnOutcome;
  /** The length of the output that was read when the turn ended. */
  readonly offset: number;
  /** The total in the turn's result. */
  readonly totalUsd: number | undefined;
  /** The message in which Claude Code describes itself when a turn begins. */
  readonly init: Init | undefined;
  /** The model has answered something, so the session contains the prompt. */
  readonly hasSpoken: boolean;
  /** The newest message after which the history can be cut off. */
  readonly checkpoint: string | undefined;
  /** How the process ended; undefined while it runs. */
  readonly exit: Exit | undefined;
  readonly silent: boolean;
  /** A later turn could not read the output of the process. */
  readonly displaced: boolean;
}

export type Init = Extract<Happening, { kind: 'init' }>;

export interface TurnWatch {
  readonly launched: LaunchedProcess;
  readonly turn: TurnFile;
  readonly idleTimeoutMs: number;
  readonly live: (live: Live) => void;
  readonly permissions: TurnPermissions;
  readonly onInit: () => void;
  readonly onSilence: () => void;
  /** For a process that accepts no further prompt: its output after the result still counts. */
  readonly untilExit: boolean;
}

export async function followTurn(watch: TurnWatch): Promise<FollowedTurn> {
  const { launched, turn } = watch;
  const record = turnRecord();
  const reader = messageReader();
  const decoder = new StringDecoder('utf8');
  const show = liveReporter(watch.live);
  let init: Init | undefined;
  let hasSpoken = false;
  let checkpoint: string | undefined;
  let totalUsd: number | undefined;
  let offset = turn.offset;
  let silent = false;
  let hasEndedInput = false;
  const handle = (happening: Happening) => {
    record.add(happening);
    show(happening);
    watch.permissions.handle(happening);
    if (happening.kind === 'init') {
      init = happening;
      watch.onInit();
    }
    if (happening.kind === 'checkpoint') checkpoint = happening.uuid;
    if (happening.kind === 'text' || happening.kind === 'tool-use') hasSpoken = true;
    if (happening.kind === 'result') totalUsd = happening.costUsd;
  };

  const end = turnEnd(launched);
  const cancelIdle = watchIdle({
    files: [launched.stdout.path, launched.stderr.path],
    idleTimeoutMs: watch.idleTimeoutMs,
    isResting: () => watch.permissions.isResting,
    onIdle: () => {
      silent = true;
      watch.onSilence();
    },
  });
  try {
    for await (const chunk of follow(launched.stdout, { from: offset, until: end.promise })) {
      offset += chunk.length;
      for (const happening of reader.push(decoder.write(chunk))) handle(happening);
      if (!record.isOver) continue;
      cancelIdle();
      if (!watch.untilExit) break;
      if (!hasEndedInput) endInput(launched);
      hasEndedInput = true;
      end.afterGrace();
    }
    for (const happening of reader.end()) handle(happening);
  } catch {
    // The output cannot be read, so only the exit of the process decides.
  }
  cancelIdle();
  end.forget();
  const displaced = isDisplaced(launched, watch.live);

  const countedUsd = alreadyCounted({ ...turn, version: init?.version ?? '' });
  const exit = end.exit();
  const stderrTail = record.isOver ? '' : tailIfReadable(launched.stderr);
  const outcome = record.outcome({ now: Date.now(), countedUsd, stderrTail, ...asNodeExit(exit) });
  return { outcome, offset, totalUsd, init, hasSpoken, checkpoint, exit, silent, displaced };
}

function liveReporter(live: (live: Live) => void): (happening: Happening) => void {
  const prints = printStream();
  return (happening) => {
    switch (happening.kind) {
      case 'text':
        live({ kind: 'text', text: happening.text });
        for (const text of printedTexts(prints.push(happening.text))) live({ kind: 'print', text });
        return;
      case 'tool-use':
        return live({ kind: 'tool', name: happening.name, summary: happening.summary });
      case 'permission-denied':
        return live({ kind: 'denied', tool: happening.tool });
      case 'api-retry': {
        const status = happening.status === undefined ? '' : ` (${happening.status})`;
        return live({
          kind: 'note',
          text: `Claude Code retries its request to the model${status}`,
        });
      }
    }
  };
}

function asNodeExit(exit: Exit | undefined) {
  if (exit?.kind !== 'exited') return {};
  return { exit: { code: exit.code, signal: signalOf(exit.code) ?? null } };
}
