/** What a person has to do for the run: one question after the other, and the failures in a line. */
import { useState } from 'preact/hooks';
import type {
  AgentShape,
  AgentStatusShape,
  PermissionShape,
  WholeRun,
} from '../../src/look/run-shape.ts';
import { counted, oneLine, visible } from '../lib/words.ts';
import { Icon } from './icons.tsx';
import { PermissionCard } from './permission-card.tsx';
import { QuestionCard } from './question-card.tsx';
import { Mark } from './status.tsx';

interface Props {
  readonly run: WholeRun;
  /** The agent whose question comes first, if it has one. */
  readonly preferred: string | undefined;
  readonly onChoose: (agent: string) => void;
}

export function Needs({ run, preferred, onChoose }: Props) {
  const [at, setAt] = useState(0);
  const asking = run.agents
    .flatMap(wantsOf)
    .toSorted((a, b) => Number(b.agent.id === preferred) - Number(a.agent.id === preferred));
  const failed = run.agents.filter(({ status }) => status.kind === 'failed');
  if (asking.length + failed.length === 0) return null;
  const index = Math.min(at, asking.length - 1);
  const shown = asking[index];
  const pager = asking.length > 1 && <Pager index={index} length={asking.length} onPage={setAt} />;
  return (
    <div class="needs">
      {shown?.kind === 'question' && (
        <QuestionCard
          key={`${shown.agent.id} ${shown.status.asked_at}`}
          question={{ ...shown.status, run: run.id, ...placeOf(shown.agent), pid: run.pid }}
          onChoose={() => onChoose(shown.agent.id)}
          pager={pager}
          isAtRun
        />
      )}
      {shown?.kind === 'permission' && (
        <PermissionCard
          key={`${shown.agent.id} ${shown.permission.request}`}
          permission={{ ...shown.permission, run: run.id, ...placeOf(shown.agent) }}
          onChoose={() => onChoose(shown.agent.id)}
          pager={pager}
          isAtRun
        />
      )}
      {failed.length > 0 && <Failures failed={failed} onChoose={onChoose} />}
    </div>
  );
}

type Status<K extends AgentStatusShape['kind']> = Extract<AgentStatusShape, { kind: K }>;

type Want =
  | { readonly kind: 'question'; readonly agent: AgentShape; readonly status: Status<'asking'> }
  | {
      readonly kind: 'permission';
      readonly agent: AgentShape;
      readonly permission: PermissionShape;
    };

/** What an agent wants from a person, except what was answered. */
function wantsOf(agent: AgentShape): readonly Want[] {
  const { status } = agent;
  if (status.kind === 'asking') return status.answered ? [] : [{ kind: 'question', agent, status }];
  if (status.kind !== 'running') return [];
  return status.requests
    .filter(({ answered }) => !answered)
    .map((permission) => ({ kind: 'permission', agent, permission }));
}

const placeOf = ({ id, workflow, state }: AgentShape) => ({ agent: id, workflow, state });

interface PagerProps {
  readonly index: number;
  readonly length: number;
  readonly onPage: (index: number) => void;
}

function Pager({ index, length, onPage }: PagerProps) {
  return (
    <span class="pager">
      <button
        type="button"
        class="button quiet only-icon"
        aria-label="Previous question"
        disabled={index === 0}
        onClick={() => onPage(index - 1)}
      >
        <Icon name="back" />
      </button>
      {index + 1} of {length}
      <button
        type="button"
        class="button quiet only-icon"
        aria-label="Next question"
        disabled={index >= length - 1}
        onClick={() => onPage(index + 1)}
      >
        <Icon name="forward" />
      </button>
    </span>
  );
}

interface FailuresProps {
  readonly failed: readonly AgentShape[];
  readonly onChoose: (agent: string) => void;
}

/** Every failure has its reason and leads to its agent. Those that a join has reported come last. */
function Failures({ failed, onChoose }: FailuresProps) {
  const open = failed.filter((agent) => !isJoined(agent));
  const all = [...open, ...failed.filter(isJoined)];
  const rest = failed.length - open.length;
  return (
    <details class="failures tone-fail" open={failed.length <= FEW}>
      <summary>
        <Mark tone="fail" />
        <b>{counted(failed.length, 'agent')} failed</b>
        {rest > 0 && (
          <span class="faint">
            {rest === failed.length ? 'The' : `${rest}: the`} join continued.
          </span>
        )}
      </summary>
      <ul>
        {all.slice(0, MOST).map(
          ({ id, state, variables, status }) =>
            status.kind === 'failed' && (
              <li key={id}>
                <button type="button" class="link clip which" onClick={() => onChoose(id)}>
                  {nameOf(id, variables)}
                </button>
                <span class="faint clip">{visible(state)}</span>
                <span class="anywhere grow">{oneLine(status.failure.message, 300)}</span>
              </li>
            ),
        )}
      </ul>
      {all.length > MOST && (
        <p class="faint">{all.length - MOST} more are in “Agents”, failed ones first.</p>
      )}
    </details>
  );
}

const isJoined = ({ status }: AgentShape) => status.kind === 'failed' && status.joined;

/** A person knows what an agent works on, not its number. */
function nameOf(id: string, variables: AgentShape['variables']): string {
  const own = Object.values(variables).find((value) => value.trim() !== '');
  return own === undefined ? visible(id) : `${visible(id)} (${oneLine(own, 40)})`;
}

/** More are folded, so that they do not push the view away. */
const FEW = 3;
const MOST = 50;
