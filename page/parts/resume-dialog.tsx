import { useState } from 'preact/hooks';
import type { ResumeRequest } from '../../src/serve/shapes/requests.ts';
import { post } from '../lib/api.ts';
import { visible } from '../lib/words.ts';
import { moneyOf } from '../stores/start-request.ts';
import { Modal } from './dialogs.tsx';
import { Actions, Field, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { MONEY } from './start-dialog.tsx';
import { useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly done: () => void;
  readonly onClose: () => void;
}

export function ResumeDialog({ run, done, onClose }: Props) {
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
    await post(`/api/runs/${encodeURIComponent(run)}/resume`, request);
    onClose();
    done();
    tools.runs.refresh();
  });
  return (
    <Modal title={`Resume ${visible(run)}`} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <p class="faint">
          Finished steps are not repeated. Failed agents retry their state, and stored answers reach
          their agents.
        </p>
        <Field label="Budget in $" hint="For the whole run. Empty: as before. 0: unlimited.">
          {(id, hint) => (
            <input
              class="input"
              id={id}
              aria-describedby={hint}
              inputMode="decimal"
              pattern={MONEY}
              value={budget}
              onInput={(event) => setBudget(event.currentTarget.value)}
            />
          )}
        </Field>
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

interface CheckProps {
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
  readonly children: string;
}

function Check({ isChecked, onCheck, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onCheck(event.currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
