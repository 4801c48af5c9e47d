import type { RunControl } from '../app/for-programs.ts';
import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';

interface NewsWanted {
  /** The last event that the caller knows of; undefined to begin with the current state. */
  readonly after: number | undefined;
  /** `attention`: a question, a permission request, a failure, a limit or the end. `change`: any event. */
  readonly until: 'attention' | 'change';
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Waits until there is news of a run. Resolves with false if the wait was ended. A run without a process
 * has no more news.
 */
export async function awaitNews(
  { look, attend }: Pick<RunControl, 'look' | 'attend'>,
  id: string,
  { after, until, signal }: NewsWanted,
): Promise<boolean> {
  const { owner, found } = await look(id);
  const { tally, status, seq } = found.run;
  const needsAttention = tally.asking + tally.asksPermission + tally.failed > 0;
  if (after === undefined && until === 'attention' && needsAttention) return true;
  if (after === undefined && (!owner || status.kind === 'ended')) return true;
  for await (const event of attend(id, { after: after ?? seq, signal }))
    if (until === 'change' || isForAttention(event)) return true;
  return !signal.aborted;
}

function isForAttention(event: RunEvent): boolean {
  switch (event.type) {
    case 'agent-asked':
    case 'permission-asked':
    case 'agent-failed':
    case 'stop-requested':
    case 'run-ended':
      return true;
    case 'usage-limited':
      return event.next === undefined;
    default:
      ignore<'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'>(
        event,
      );
      return false;
  }
}
