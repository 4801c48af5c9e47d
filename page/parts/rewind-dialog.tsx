import type { AskedRewind } from '../stores/rewind.ts';
import { Modal } from './dialogs.tsx';
import { Actions, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { act, addDone, useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly rewind: AskedRewind;
  readonly onClose: () => void;
}

export function RewindDialog({ run, rewind, onClose }: Props) {
  const tools = useTools();
  const { isSending, trouble, send } = useSend(async () => {
    await act(tools, run, '/rewind', rewind.request);
    addDone(tools, run, rewind.done, rewind.next);
    onClose();
  });
  return (
    <Modal title={rewind.title} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <ul class="loses">
          {rewind.means.map((one) => (
            <li key={one} class="anywhere">
              {one}
            </li>
          ))}
        </ul>
        <Problem trouble={trouble} />
        <Actions act={rewind.act} isSending={isSending} onClose={onClose} />
      </form>
    </Modal>
  );
}
