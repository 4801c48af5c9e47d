import { useId, useState } from 'preact/hooks';
import type { StartRequest } from '../../src/serve/shapes/requests.ts';
import type { StoredRow } from '../../src/serve/shapes/run-row.ts';
import { post } from '../lib/api.ts';
import { useStore } from '../lib/store.ts';
import { startRequest } from '../stores/start-request.ts';
import { Modal } from './dialogs.tsx';
import { Actions, BudgetField, Check, Field, Problem } from './form.tsx';
import { useSend } from './send.ts';
import { useTools } from './tools.ts';

export function StartDialog({ onClose }: { readonly onClose: () => void }) {
  const tools = useTools();
  const runs = useStore(tools.runs.runs) ?? [];
  const [workflow, setWorkflow] = useState('');
  const [input, setInput] = useState('');
  const [budget, setBudget] = useState('');
  const [variables, setVariables] = useState('');
  const [rehearse, setRehearse] = useState(false);
  const known = useId();
  const { isSending, trouble, send } = useSend(async () => {
    const request: StartRequest = startRequest({ workflow, input, budget, variables, rehearse });
    const run = await post<StoredRow>('/api/runs', request);
    onClose();
    tools.runs.refresh();
    tools.go({ kind: 'run', run: run.id, tab: 'graph', chosen: { kind: 'nothing' } });
  });
  const used = new Set(runs.flatMap((run) => ('workflow' in run ? [run.workflow] : [])));
  return (
    <Modal title="Start a run" onClose={onClose}>
      <form class="plain" onSubmit={send}>
        <Field label="Workflow" hint="A folder, archive or YAML file in the project.">
          {(id, hint) => (
            <>
              <input
                class="input"
                id={id}
                aria-describedby={hint}
                list={known}
                required
                autoComplete="off"
                value={workflow}
                onInput={(event) => setWorkflow(event.currentTarget.value)}
              />
              <datalist id={known}>
                {[...used].slice(0, 50).map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field label="Input" hint="The value of {{input}}. May be empty.">
          {(id, hint) => (
            <textarea
              class="input"
              id={id}
              aria-describedby={hint}
              value={input}
              onInput={(event) => setInput(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="two">
          <BudgetField
            hint="Empty: the default of the project."
            value={budget}
            onValue={setBudget}
          />
          <Field label="Variables" hint="One per line: name=value">
            {(id, hint) => (
              <textarea
                class="input mono"
                id={id}
                aria-describedby={hint}
                rows={1}
                value={variables}
                onInput={(event) => setVariables(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <Check isChecked={rehearse} onCheck={setRehearse}>
          Rehearse <span class="faint small">Calls no model and executes no script.</span>
        </Check>
        <Problem trouble={trouble} />
        <Actions act="Start" isSending={isSending} onClose={onClose} />
      </form>
    </Modal>
  );
}
