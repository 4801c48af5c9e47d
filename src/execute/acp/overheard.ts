/** Listens to the messages that an agent sends outside of a turn. */
import { fields, text } from '../json.ts';
import type { LaunchedProcess } from '../process/index.ts';
import { within } from '../within.ts';
import type { Adapter } from './adapter.ts';
import type { Connection } from './connection.ts';
import type { FollowedTurn } from './follow-turn.ts';
import { promptParams, readUpdate, type UpdateKind } from './protocol.ts';

export class Overheard {
  readonly #texts = new Map<string, string>();
  readonly #unlisten: () => void;
  #wake = () => {};
  #isOver = false;

  constructor(connection: Connection) {
    this.#unlisten = connection.listen({
      incoming: (message) => {
        const update = message.kind === 'notification' ? readUpdate(message) : undefined;
        if (!update || !MESSAGES.has(update.kind)) return;
        const before = this.textOf(update.session);
        if (before.length > MOST_TEXT) return;
        this.#texts.set(update.session, before + text(fields(update.fields.content).text));
        this.#wake();
      },
    });
    void connection.over.then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  textOf(session: string): string {
    return this.#texts.get(session) ?? '';
  }

  /** Waits for a text, but not longer than the time given. */
  async heard(session: string, expected: string, timeoutMs: number): Promise<void> {
    const end = Date.now() + timeoutMs;
    const isDone = () => this.#isOver || this.textOf(session).includes(expected);
    while (!isDone() && Date.now() < end) {
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(more, end - Date.now());
    }
  }

  stop(): void {
    this.#unlisten();
  }
}

const MESSAGES: ReadonlySet<string> = new Set<UpdateKind>([
  'user_message_chunk',
  'agent_message_chunk',
]);
const MOST_TEXT = 1024 * 1024;

/**
 * Asks the program of an agent after a turn for what the protocol does not carry. Without a statement, the
 * cost of the turn is estimated.
 */
export async function stated(
  adapter: Adapter | undefined,
  launched: LaunchedProcess,
  connection: Connection,
  session: string,
  followed: FollowedTurn,
): Promise<FollowedTurn> {
  if (!adapter || followed.end.kind !== 'result') return followed;
  let { exit } = followed;
  void launched.ended.then((how) => {
    exit = how;
  });
  const overheard = new Overheard(connection);
  try {
    await connection.request('session/prompt', promptParams(session, adapter.question), ANSWER_MS);
    const statement = adapter.readStatement(overheard.textOf(session));
    followed.record.state(statement);
    return { ...followed, fault: statement.fault };
  } catch {
    // The process has ended, another Raymond process has the turn, or the program does not answer.
    return { ...followed, exit };
  } finally {
    overheard.stop();
  }
}

const ANSWER_MS = 10_000;
