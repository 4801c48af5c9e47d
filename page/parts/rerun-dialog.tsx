import { useState } from 'preact/hooks';
import type { WholeRun } from '../../src/look/run-shape.ts';
import type { ResumeRequest } from '../../src/serve/shapes/requests.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { counted, lastName, oneLine, visible } from '../lib/words.ts';
import { NOTHING } from '../stores/route.ts';
import { startRequest } from '../stores/start-request.ts';
import { Modal } from './dialogs.tsx';
import {
  Actions,
  BudgetField,
  Check,
  CostConsent,
  Field,
  LineField,
  Problem,
  TextField,
  VariablesField,
} from './form.tsx';
import { useSend } from './send.ts';
import { act, useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly onClose: () => void;
}

/** Starts the workflow of a run again, or continues the run from an earlier moment. */
export function RerunDialog({ run: id, onClose }: Props) {
  const { value: run, trouble } = useAnswer<WholeRun>(`/api/runs/${encodeURIComponent(id)}`);
  return (
    <Modal title={`Run ${visible(id)} again`} onClose={onClose}>
      {run ? (
        <Form run={run} onClose={onClose} />
      ) : (
        <p aria-busy={!trouble}>{trouble ? trouble.message : 'Reading the run'}</p>
      )}
    </Modal>
  );
}

type Way = 'all' | 'failed' | 'step';

function Form({ run, onClose }: { readonly run: WholeRun; readonly onClose: () => void }) {
  const tools = useTools();
  const isCut = (run.input?.omitted ?? 0) > 0;
  const [way, setWay] = useState<Way>('all');
  const [input, setInput] = useState(isCut ? '' : (run.input?.text ?? ''));
  const [variables, setVariables] = useState(linesOf(run.metadata));
  const [budget, setBudget] = useState('');
  const [agent, setAgent] = useState(run.agents[0]?.id ?? '');
  const [step, setStep] = useState(String(run.agents[0]?.steps ?? 1));
  const [keeps, setKeeps] = useState(false);
  const [isAgreed, setAgreed] = useState(false);
  const { isSending, trouble, send } = useSend(async () => {
    const typed = {
      workflow: run.workflow,
      input,
      budget,
      variables,
      asks: false,
      rehearse: false,
      isAgreed,
    };
    const { workflow: _, set: _set, confirm_above: _agreed, ...more } = startRequest(typed);
    const goOn: ResumeRequest = way === 'step' ? { ...more, input: undefined } : more;
    if (way === 'step')
      await act(tools, run.id, '/rewind', { agent, step: Number(step), files: !keeps });
    const { id } =
      way === 'all'
        ? await act(tools, '', '', startRequest(typed))
        : await act(tools, run.id, '/resume', goOn);
    onClose();
    tools.go({ kind: 'run', run: id, tab: 'graph', chosen: NOTHING });
  });
  const failed = run.counts.failed;
  const rests = run.pid === null;
  const ways: readonly (readonly [Way, string, string])[] = [
    ['all', 'The whole workflow', `A new run of ${lastName(run.workflow)}. This one stays.`],
    ...(failed > 0 && rests
      ? ([
          [
            'failed',
            counted(failed, 'failed agent'),
            'Continues this run. Agents that have ended are not repeated.',
          ],
        ] as const)
      : []),
    ...(rests && run.steps > 0
      ? ([
          [
            'step',
            'From a step',
            'Takes this run back to the moment before the step, with its files, and continues it. This can be undone.',
          ],
        ] as const)
      : []),
  ];
  return (
    <form class="plain" onSubmit={send}>
      <fieldset class="ways">
        <legend class="visually-hidden">What is repeated</legend>
        {ways.map(([one, name, about]) => (
          <label key={one} class="way">
            <input
              type="radio"
              name="way"
              checked={one === way}
              onChange={() => {
                setWay(one);
                // Only a new run begins with the input of this one.
                setInput(one === 'all' && !isCut ? (run.input?.text ?? '') : '');
              }}
            />
            <span>
              <b>{name}</b> <span class="faint small">{about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {way === 'step' ? (
        <div class="line">
          <Field label="Agent">
            {(id) => (
              <select
                class="input"
                id={id}
                value={agent}
                onChange={(event) => setAgent(event.currentTarget.value)}
              >
                {run.agents.map((one) => (
                  <option key={one.id} value={one.id}>
                    {oneLine(one.id, 60)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <LineField
            label="Step"
            inputMode="numeric"
            required
            pattern="[1-9][0-9]*"
            value={step}
            onValue={setStep}
          />
        </div>
      ) : (
        <TextField
          label="Input"
          hint={
            way === 'failed'
              ? 'For the failed agents. Empty: as before.'
              : isCut
                ? 'The input of this run is too long to show here.'
                : 'The value of {{input}}.'
          }
          rows={3}
          value={input}
          onValue={setInput}
        />
      )}
      {way === 'step' && (
        <Check isChecked={keeps} onCheck={setKeeps}>
          Leave files as they are
        </Check>
      )}
      {way === 'all' && <VariablesField value={variables} onValue={setVariables} />}
      <BudgetField
        hint={way === 'all' ? 'Empty: the default.' : 'For the whole run. Empty: as before.'}
        value={budget}
        onValue={setBudget}
      />
      <Problem trouble={trouble} />
      <CostConsent trouble={trouble} isAgreed={isAgreed} onAgree={setAgreed} />
      <Actions act="Run again" isSending={isSending} onClose={onClose} />
    </form>
  );
}

const linesOf = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
