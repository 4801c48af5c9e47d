import { useState } from 'preact/hooks';
import type { ResumeRequest } from '../../src/serve/shapes/requests.ts';
import { visible } from '../lib/words.ts';
import { moneyOf } from '../stores/start-request.ts';
import { Modal } from './dialogs.tsx';
import { Actions, BudgetField, Check, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { act, useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly onClose: () => void;
}

export function ResumeDialog({ run, onClose }: Props) {
  const tools = useTools();
  const [budget, setBudget] = useState('');
  const [fresh, setFresh] = useState(false);
  const [accept, setAccept] = useState(false);
  const [trust, setTrust] = useState(false);
  const { isSending, trouble, send } = useSend(async () => {
    const money = moneyOf(budget);
    const request: ResumeRequest = {
      ...(money === undefined ? {} : { budget: money }),
      ...(fresh ? { fresh } : {}),
      ...(accept ? { accept_changes: accept } : {}),
      ...(trust ? { trust_run: trust } : {}),
    };
    await act(tools, run, '/resume', request);
    onClose();
  });
  return (
    <Modal title={`Resume ${visible(run)}`} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <p class="faint">
          Finished steps are not repeated. Failed agents retry their state, and stored answers reach
          their agents.
        </p>
        <BudgetField
          hint="For the whole run. Empty: as before. 0: unlimited."
          value={budget}
          onValue={setBudget}
        />
        <details>
          <summary>More</summary>
          <Check isChecked={fresh} onCheck={setFresh}>
            Failed agents begin their state in new sessions
          </Check>
          <Check isChecked={accept} onCheck={setAccept}>
            Use workflow files that have changed since the run read them
          </Check>
          <Check isChecked={trust} onCheck={setTrust}>
            Continue although this run was not started by you here
          </Check>
        </details>
        <Problem trouble={trouble} />
        <Actions act="Resume" isSending={isSending} onClose={onClose} />
      </form>
    </Modal>
  );
}
