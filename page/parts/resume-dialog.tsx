import { useState } from 'preact/hooks';
import type { StoredRow } from '../../src/look/run-shape.ts';
import type { ResumeRequest } from '../../src/serve/shapes/requests.ts';
import { useStore } from '../lib/store.ts';
import { costText, usd, visible } from '../lib/words.ts';
import { furtherBudget, resumeProblem } from '../stores/resume.ts';
import { moneyOf } from '../stores/start-request.ts';
import { Modal } from './dialogs.tsx';
import { Actions, BudgetField, Check, LineField, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { act, addDone, useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly onClose: () => void;
}

export function ResumeDialog({ run, onClose }: Props) {
  const tools = useTools();
  const found = useStore(tools.runs.runs)?.find(({ id }) => id === run);
  const row = found && found.status !== 'damaged' ? found : undefined;
  const isSpent = row?.condition === 'stopped: budget';
  const isLong = row?.condition === 'stopped: iterations';
  // The dialog may be open before the list of runs has come, so proposals are no initial values.
  const [typedBudget, setBudget] = useState<string>();
  const [typedSteps, setSteps] = useState<string>();
  const budget = typedBudget ?? (isSpent && row ? String(furtherBudget(row)) : '');
  const steps = typedSteps ?? (isLong && row ? String(row.iterations * 2) : '');
  const [fresh, setFresh] = useState(false);
  const [accept, setAccept] = useState(false);
  const [trust, setTrust] = useState(false);
  const { isSending, trouble, send } = useSend(async () => {
    const money = moneyOf(budget);
    const limit = steps.trim() === '' ? undefined : Number(steps);
    const problem = row && resumeProblem(row, money, limit);
    if (problem) throw problem;
    const request: ResumeRequest = {
      ...(money === undefined ? {} : { budget: money }),
      ...(limit === undefined ? {} : { max_iterations: limit }),
      ...(fresh ? { fresh } : {}),
      ...(accept ? { accept_changes: accept } : {}),
      ...(trust ? { trust_run: trust } : {}),
    };
    await act(tools, run, '/resume', request);
    addDone(tools, run, 'The run continues.');
    onClose();
  });
  return (
    <Modal title={`Resume ${visible(run)}`} onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <p class="faint">
          Finished steps are not repeated. Failed agents retry their state, and stored answers reach
          their agents.
        </p>
        <BudgetField hint={budgetHint(row)} value={budget} onValue={setBudget} />
        {isLong && (
          <LineField
            label="Most steps"
            hint={`It has started ${row?.iterations} states and stopped at its limit. Reminders and retries do not count. 0: unlimited.`}
            inputMode="numeric"
            pattern={COUNT}
            value={steps}
            onValue={setSteps}
          />
        )}
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

function budgetHint(row: StoredRow | undefined): string {
  if (!row || row.budget_usd === 0) return 'For the whole run. Empty: as before. 0: unlimited.';
  const spent = `It has spent ${costText(row)} of ${usd(row.budget_usd)}.`;
  return `For the whole run. ${spent} Empty: as before. 0: unlimited.`;
}

const COUNT = String.raw`\s*\d+\s*`;
