/** Asks the program of an agent after a turn for what the protocol does not carry. */
import type { LaunchedProcess } from '../process/index.ts';
import type { Adapter } from './adapter.ts';
import type { Connection } from './connection.ts';
import type { FollowedTurn } from './follow-turn.ts';
import { Overheard } from './overheard.ts';
import { promptParams } from './protocol.ts';

/** The turn is over. Without a statement, its cost is estimated. */
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
