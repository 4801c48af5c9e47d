import { post } from '../lib/api.ts';
import { visible } from '../lib/words.ts';
import { Modal } from './dialogs.tsx';
import { Actions, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { addToast, useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly agent: string;
  readonly step: number;
  readonly loses: readonly string[];
  readonly done: () => void;
  readonly onClose: () => void;
}

export function RewindDialog({ run, agent, step, loses, done, onClose }: Props) {
  const tools = useTools();
  const { isSending, trouble, send } = useSend(async () => {
    await post(`/api/runs/${encodeURIComponent(run)}/rewind`, { agent, step });
    addToast(tools, {
      tone: 'done',
      message: `${visible(agent)} is before step ${step} again.`,
      remedy: 'Resume the run to continue from there.',
    });
    onClose();
    done();
    tools.runs.refresh();
  });
  return (
    <Modal title={`Rewind ${visible(agent)} to before step ${step}?`} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <ul class="loses">
          {loses.map((one) => (
            <li key={one} class="anywhere">
              {one}
            </li>
          ))}
        </ul>
        <Problem trouble={trouble} />
        <Actions act="Rewind" isSending={isSending} onClose={onClose} />
      </form>
    </Modal>
  );
}
