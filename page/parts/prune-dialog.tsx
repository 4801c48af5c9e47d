import type { Pruned } from '../../src/serve/shapes/requests.ts';
import { troubleFrom } from '../lib/api.ts';
import { useStore } from '../lib/store.ts';
import { counted, lastName, oneLine, visible } from '../lib/words.ts';
import { Modal } from './dialogs.tsx';
import { Actions } from './form.tsx';
import { useSend } from './send.ts';
import { act, addDone, addTrouble, useTools } from './tools.ts';

interface Props {
  readonly runs: readonly string[];
  readonly onClose: () => void;
}

/** Names the runs before they are removed. One after the other: what one refuses holds up no other. */
export function PruneDialog({ runs, onClose }: Props) {
  const tools = useTools();
  const known = useStore(tools.runs.runs) ?? [];
  const { isSending, send } = useSend(async () => {
    const kept: string[] = [];
    let count = 0;
    for (const run of runs)
      try {
        const { removed, work } = await act<Pruned>(tools, run, '/prune', {});
        if (removed) count += 1;
        else kept.push(`${run}: ${work.join(', ')}`);
      } catch (error) {
        addTrouble(tools, troubleFrom(error), '');
      }
    if (count > 0) addDone(tools, '', `${counted(count, 'run')} deleted.`);
    if (kept.length > 0)
      addTrouble(
        tools,
        {
          code: 'kept',
          message: `${counted(kept.length, 'run')} kept, because of work that exists nowhere else.`,
          remedy: oneLine(kept.join('; '), 400),
        },
        '',
      );
    onClose();
  });
  return (
    <Modal title={`Delete ${counted(runs.length, 'run')}?`} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <p class="faint">
          Their journals, conversations and worktrees without work are removed, and cannot be
          restored. A run with work that exists nowhere else is kept.
        </p>
        <ul class="doomed">
          {runs.map((id) => {
            const run = known.find((one) => one.id === id);
            return (
              <li key={id} class="clip">
                <b>{visible(id)}</b>{' '}
                {run && run.status !== 'damaged' && (
                  <span class="faint">
                    {lastName(run.workflow)} {oneLine(run.input?.text ?? '', 80)}
                  </span>
                )}
              </li>
            );
          })}
        </ul>
        <Actions act="Delete" isSending={isSending} onClose={onClose} />
      </form>
    </Modal>
  );
}
