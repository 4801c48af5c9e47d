/** Follows a turn from its prompt to the answer of the agent. */
import { fields } from '../json.ts';
import type { Exit, LaunchedProcess } from '../process/index.ts';
import type { Followed, Turning } from '../turn/turn-executor.ts';
import { type Connection, Disconnected, Refused } from './connection.ts';
import { toldUsd, usageIn } from './cost.ts';
import type { KnownAgent } from './known.ts';
import { stated } from './overheard.ts';
import { type RpcError, readUpdate, type UpdateKind } from './protocol.ts';
import type { SentPrompt } from './records.ts';
import type { TurnPermissions } from './turn-permissions.ts';
import { TurnRecord } from './turn-record.ts';

export interface FollowedTurn extends Followed {
  readonly end: TurnEnd;
  readonly record: TurnRecord;
  readonly denied: readonly string[];
  /** The offset in the output after the turn. */
  readonly offset: number;
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

interface TurnWatch {
  readonly turning: Turning;
  readonly launched: LaunchedProcess;
  readonly connection: Connection;
  readonly prompt: SentPrompt;
  readonly permissions: TurnPermissions;
  /** Sends the prompt; absent if an earlier process did. */
  readonly send?: () => Promise<void>;
}

export async function followTurn(
  { adapter, countsAllTurns }: Partial<KnownAgent>,
  watch: TurnWatch,
): Promise<FollowedTurn> {
  const { turning, launched, connection, prompt, permissions } = watch;
  const record = new TurnRecord(turning.live, adapter?.isRemark);
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
      const { totalUsd } = record;
      record.add(update);
      if (record.totalUsd !== totalUsd)
        turning.live({
          kind: 'spent',
          usd: toldUsd({ beforeUsd: prompt.beforeUsd, totalUsd: record.totalUsd }) ?? 0,
        });
      permissions.update(update);
    },
  });
  const silence = turning.watchSilence(launched);
  let isGivenUp = false;
  const forget = cancelUnsent(watch, record, () => {
    isGivenUp = true;
  });
  await watch.send?.();
  const end = await endOf(answer);
  forget();
  silence.end();
  unlisten();
  record.end();
  // A turn that another process has adopted still waits.
  if (end.kind !== 'none') permissions.end();
  const { denied } = permissions;
  const { offset } = connection;
  const silent = silence.isSilent;
  const followed = { end, record, denied, offset, exit, silent, isGivenUp };
  if (countsAllTurns && end.kind === 'result')
    record.state({ totalUsage: usageIn(fields(fields(end.result).usage)) });
  return stated(adapter, launched, connection, prompt.session, followed);
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
  { turning, prompt, send }: TurnWatch,
  record: TurnRecord,
  onGivenUp: () => void,
): () => void {
  if (prompt.isSent || send) return () => {};
  const timer = setTimeout(() => {
    if (record.hasSpoken) return;
    onGivenUp();
    turning.cancel();
  }, UNSENT_MS);
  return () => clearTimeout(timer);
}

const UNSENT_MS = 15_000;
