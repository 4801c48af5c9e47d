import { useEffect, useState } from 'preact/hooks';
import type { WorkflowBound } from '../../src/serve/shapes/bound.ts';
import type { LoadedWorkflow } from '../../src/serve/shapes/workflows.ts';
import { get } from '../lib/api.ts';
import { oneLine, usd } from '../lib/words.ts';
import { startRequest } from '../stores/start-request.ts';
import { BudgetField, Check, CostConsent, Problem, TextField, VariablesField } from './form.tsx';
import { Icon } from './icons.tsx';
import { useSend } from './send.ts';
import { act, useTools } from './tools.ts';

interface Props {
  readonly path: string;
  /** Undefined for a workflow that the project does not list. */
  readonly workflow: LoadedWorkflow | undefined;
}

export function StartForm({ path, workflow }: Props) {
  const tools = useTools();
  const [input, setInput] = useState('');
  const [budget, setBudget] = useState('');
  const [variables, setVariables] = useState('');
  const [asks, setAsks] = useState(false);
  const [rehearse, setRehearse] = useState(false);
  const [isAgreed, setAgreed] = useState(false);
  const { isSending, trouble, send } = useSend(async () => {
    const request = startRequest({
      workflow: path,
      input,
      budget,
      variables,
      asks,
      rehearse,
      isAgreed,
    });
    const { id } = await act(tools, '', '', request);
    tools.go({ kind: 'run', run: id, tab: 'graph', chosen: { kind: 'nothing' } });
  });
  const rule = workflow?.input;
  return (
    <form class="start" onSubmit={send}>
      <TextField
        label={oneLine(rule?.label ?? 'Input', 200)}
        hint={inputHint(rule)}
        rows={2}
        required={rule?.required === true && rule.default === null}
        placeholder={rule?.default ?? ''}
        value={input}
        onValue={setInput}
      />
      <BudgetField hint={budgetHint(workflow)} value={budget} onValue={setBudget} />
      <VariablesField value={variables} onValue={setVariables} />
      <Check isChecked={asks} onCheck={setAsks}>
        Ask me{' '}
        <span class="faint small">
          A tool call that the agent may not make by itself waits for my decision.
        </span>
      </Check>
      <Check isChecked={rehearse} onCheck={setRehearse}>
        Rehearse <span class="faint small">Calls no model and executes no script.</span>
      </Check>
      <Most path={path} />
      <Problem trouble={trouble} />
      <CostConsent trouble={trouble} isAgreed={isAgreed} onAgree={setAgreed} />
      <button type="submit" class="button primary" disabled={isSending}>
        <Icon name="play" />
        Start
      </button>
    </form>
  );
}

/** The most that a run can use. It is read after the form is shown. */
function Most({ path }: { readonly path: string }) {
  const [bound, setBound] = useState<WorkflowBound>();
  useEffect(() => {
    const over = new AbortController();
    const query = new URLSearchParams({ workflow: path });
    get<WorkflowBound>(`/api/bound?${query}`, over.signal).then(setBound, () => {});
    return () => over.abort();
  }, [path]);
  if (!bound) return null;
  return (
    <p class="faint small most">
      {oneLine(bound.text, 300)} {boundedBy(bound)}
    </p>
  );
}

function boundedBy({ prompts, loops, budget_usd: budget }: WorkflowBound): string {
  if (prompts !== null) return '';
  const [loop] = loops;
  const where = loop
    ? `${oneLine([...loop.states, loop.states[0]].join(' → '), 200)} can repeat. `
    : '';
  return budget === null
    ? `${where}Set a budget.`
    : `${where}The budget of ${usd(budget)} ends it.`;
}

function inputHint(rule: LoadedWorkflow['input'] | undefined): string {
  if (rule?.default != null) return 'The value of {{input}}. Empty: the text that you see in it.';
  return rule?.required ? 'The value of {{input}}.' : 'The value of {{input}}. May be empty.';
}

function budgetHint(workflow: LoadedWorkflow | undefined): string {
  const own = workflow?.budget_usd ?? null;
  return own === null
    ? 'Empty: the default of the project.'
    : `Empty: ${usd(own)}, as the workflow says.`;
}
