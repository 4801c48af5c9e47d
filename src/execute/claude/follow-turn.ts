/** Follows one turn in a process's output, from its prompt to its result. */
import type { Live } from '../../ports.ts';
import { type Exit, type LaunchedProcess, signalOf } from '../process/index.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import { type FollowedOutput, followOutput, textShower } from '../turn/follow-output.ts';
import type { Turning } from '../turn/turn-executor.ts';
import { endInput } from './command.ts';
import { type Happening, messageReader } from './messages.ts';
import { type TurnOutcome, turnRecord } from './outcome.ts';
import { alreadyCounted } from './price.ts';
import type { TurnFile } from './records.ts';
import type { TurnPermissions } from './turn-permissions.ts';
import type { TurnWords } from './turn-words.ts';

export interface FollowedTurn extends FollowedOutput {
  readonly outcome: TurnOutcome;
  /** The total in the turn's result. */
  readonly totalUsd: number | undefined;
  /** The message in which Claude Code describes itself when a turn begins. */
  readonly init: Init | undefined;
  /** The model has answered something, so the session contains the prompt. */
  readonly hasSpoken: boolean;
  /** The newest message after which the history can be cut off. */
  readonly checkpoint: string | undefined;
}

type Init = Extract<Happening, { kind: 'init' }>;

interface TurnWatch {
  readonly turning: Turning;
  readonly launched: LaunchedProcess;
  readonly turn: TurnFile;
  readonly permissions: TurnPermissions;
  readonly words: TurnWords;
  readonly onInit?: () => void;
  /** For a process that accepts no further prompt: its output after the result still counts. */
  readonly untilExit: boolean;
}

export async function followTurn(watch: TurnWatch): Promise<FollowedTurn> {
  const { turning, launched, turn, permissions, words, onInit, untilExit } = watch;
  const record = turnRecord();
  const read = messageReader();
  const show = liveReporter(turning.live, record.spentUsd);
  let init: Init | undefined;
  let hasSpoken = false;
  let checkpoint: string | undefined;
  let totalUsd: number | undefined;
  const handle = (happening: Happening) => {
    record.add(happening);
    show(happening);
    permissions.handle(happening);
    if (happening.kind !== 'heard' || !turn.prompts.includes(happening.uuid))
      words.handle(happening);
    if (happening.kind === 'init') {
      init = happening;
      onInit?.();
    }
    if (happening.kind === 'checkpoint') checkpoint = happening.uuid;
    if (happening.kind === 'text' || happening.kind === 'tool-use') hasSpoken = true;
    if (happening.kind === 'result') totalUsd = happening.costUsd;
  };
  const output = await followOutput(turning, launched, {
    from: turn.offset,
    read: (piece) => read(piece).forEach(handle),
    isOver: () => record.isOver && words.isOver,
    atEnd: untilExit ? 'wait' : 'leave',
    onOver: () => endInput(launched),
  });
  onInit?.();
  const countedUsd = alreadyCounted({ ...turn, version: init?.version ?? '' });
  const stderrTail = record.isOver ? '' : tailIfReadable(launched.stderr);
  const end = { now: Date.now(), countedUsd, stderrTail, ...asNodeExit(output.exit) };
  return { ...output, outcome: record.outcome(end), totalUsd, init, hasSpoken, checkpoint };
}

function liveReporter(
  live: (live: Live) => void,
  spentUsd: () => number,
): (happening: Happening) => void {
  const showText = textShower(live);
  return (happening) => {
    switch (happening.kind) {
      case 'text':
        return showText(happening.text);
      case 'tool-use':
        return live({ kind: 'tool', name: happening.name, summary: happening.summary });
      case 'spent':
      case 'spent-output':
        return live({ kind: 'spent', usd: spentUsd() });
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
