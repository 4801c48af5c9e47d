/** Follows a turn from its prompt to the answer of the agent. */
import type { PromptStep } from '../../ports.ts';
import { type Exit, type LaunchedProcess, watchIdle } from '../process/index.ts';
import { type Connection, Disconnected, Refused } from './connection.ts';
import { type RpcError, readUpdate, type UpdateKind } from './protocol.ts';
import type { SentPrompt } from './turn-file.ts';
import type { TurnPermissions } from './turn-permissions.ts';
import type { TurnRecord } from './turn-record.ts';

export interface FollowedTurn {
  readonly end: TurnEnd;
  readonly record: TurnRecord;
  readonly denied: readonly string[];
  /** The offset in the output after the turn. */
  readonly offset: number;
  /** How the process ended; undefined while it runs. */
  readonly exit: Exit | undefined;
  readonly silent: boolean;
  /** It is not known whether the agent got the prompt. */
  readonly isGivenUp: boolean;
  /** Why the agent has no whole answer, in its own words. */
  readonly fault?: string | undefined;
}

export type TurnEnd =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** The process ended before it answered. */
  | { readonly kind: 'none'; readonly reason: string };

export interface TurnWatch {
  readonly launched: LaunchedProcess;
  readonly connection: Connection;
  readonly prompt: SentPrompt;
  readonly step: PromptStep;
  readonly record: TurnRecord;
  readonly permissions: TurnPermissions;
  /** Sends the prompt; absent if an earlier process did. */
  readonly send?: () => Promise<void>;
  /** Cancels the turn, and ends the process if that does not help. */
  readonly cancel: () => void;
}

export async function followTurn(watch: TurnWatch): Promise<FollowedTurn> {
  const { launched, connection, prompt, record, permissions } = watch;
  let silent = false;
  let exit: Exit | undefined;
  void launched.ended.then((how) => {
    exit = how;
  });
  const answer = connection.answerTo(prompt.id);
  const unlisten = connection.listen({
    incoming: (message) => {
      if (message.kind === 'request') return permissions.handle(message);
      const update = readUpdate(message);
      if (update?.session !== prompt.session) return;
      // An adopted turn may have ended before, and the same piece of output may have what followed.
      if (connection.isAnswered(prompt.id) && update.kind === TEXT) return;
      record.add(update);
      permissions.update(update);
    },
  });
  const cancelIdle = watchIdle({
    files: [launched.stdout.path, launched.stderr.path],
    idleTimeoutMs: watch.step.idleTimeoutMs,
    isResting: () => permissions.isResting,
    onIdle: () => {
      silent = true;
      watch.cancel();
    },
  });
  let isGivenUp = false;
  const forget = cancelUnsent(watch, () => {
    isGivenUp = true;
  });
  await watch.send?.();
  const end = await endOf(answer);
  forget();
  cancelIdle();
  unlisten();
  record.end();
  // A turn that another process has adopted still waits.
  if (end.kind !== 'none') permissions.end();
  const { denied } = permissions;
  const { offset } = connection;
  return { end, record, denied, offset, exit, silent, isGivenUp };
}

const TEXT: UpdateKind = 'agent_message_chunk';

async function endOf(answer: Promise<unknown>): Promise<TurnEnd> {
  try {
    return { kind: 'result', result: await answer };
  } catch (error) {
    if (error instanceof Refused) return { kind: 'error', error: error.error };
    return { kind: 'none', reason: error instanceof Disconnected ? error.message : String(error) };
  }
}

/**
 * A Raymond process that was killed while it sent the prompt may have sent only a part. Then the agent
 * waits for the rest, and no answer will come.
 */
function cancelUnsent(
  { prompt, send, record, cancel }: TurnWatch,
  onGivenUp: () => void,
): () => void {
  if (prompt.isSent || send) return () => {};
  const timer = setTimeout(() => {
    if (record.hasSpoken) return;
    onGivenUp();
    cancel();
  }, UNSENT_MS);
  return () => clearTimeout(timer);
}

const UNSENT_MS = 15_000;
