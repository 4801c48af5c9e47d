import { useState } from 'preact/hooks';
import type { OccasionShape, TriggerList, TriggerShape } from '../../src/look/trigger-shape.ts';
import { post } from '../lib/api.ts';
import { useNow } from '../lib/hooks.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { clock, counted, lastName, visible } from '../lib/words.ts';
import { type DueDay, dueDays } from '../stores/due.ts';
import { runHash } from '../stores/route.ts';
import { Problem } from './form.tsx';
import { useSending } from './send.ts';
import { Pill, type Tone } from './status.tsx';
import { addDone, addTrouble, useTools } from './tools.ts';

/** What starts runs without a person: what is due, and what became of everything that happened. */
export function TriggersPage() {
  const now = useNow(10_000);
  const { value, trouble, again } = useAnswer<TriggerList>('/api/triggers', now);
  const [last, setLast] = useState<TriggerList>();
  if (value && value !== last) setLast(value);
  // While it is read again, the last one stays.
  const list = value ?? last;
  if (!list)
    return (
      <div class="empty" aria-busy={!trouble}>
        {trouble ? <Problem trouble={trouble} /> : <p>Reading the triggers</p>}
      </div>
    );
  return (
    <div class="overview triggers scroll">
      <header>
        <h1>Triggers</h1>
        <p class="faint">
          {list.triggers.length === 0
            ? 'No workflow of this project starts by itself.'
            : `${counted(list.triggers.length, 'trigger')} of this project. They start runs while raymond up works.`}
        </p>
      </header>
      {list.problems.map((problem) => (
        <p key={problem} class="small tone-fail anywhere">
          <span class="told">{visible(problem)}</span>
        </p>
      ))}
      <DueNext days={dueDays(list.triggers, now)} />
      {list.triggers.length > 0 && <Triggers triggers={list.triggers} now={now} />}
      {list.occasions.length > 0 && (
        <Occasions occasions={list.occasions} now={now} onReplay={again} />
      )}
    </div>
  );
}

const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** A calendar: a card for each day on which something is due. */
function DueNext({ days }: { readonly days: readonly DueDay[] }) {
  if (days.length === 0) return null;
  return (
    <section aria-labelledby="due-next">
      <h2 id="due-next">Due next</h2>
      <ol class="due-days">
        {days.map(({ name, times }) => (
          <li key={name} class="card">
            <h3>{name}</h3>
            <ol>
              {times.map(({ at, workflow, trigger }) => (
                <li key={`${at} ${workflow} ${trigger}`} class="line">
                  <time dateTime={new Date(at).toISOString()}>{HOUR.format(at)}</time>
                  <span class="clip" title={`${visible(workflow)}: ${visible(trigger)}`}>
                    {lastName(workflow)}
                  </span>
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface TriggersProps {
  readonly triggers: readonly TriggerShape[];
  readonly now: number;
}

function Triggers({ triggers, now }: TriggersProps) {
  return (
    <section aria-labelledby="all-triggers">
      <h2 id="all-triggers">All triggers</h2>
      <ul class="trigger-list">
        {triggers.map((one) => (
          <li key={`${one.workflow} ${one.name}`} class="card">
            <p class="line">
              <b class="clip" title={visible(one.workflow)}>
                {lastName(one.workflow)}
              </b>
              {one.waiting > 0 && <Pill tone="wait">{`${one.waiting} waiting`}</Pill>}
              {!one.approved && <Pill tone="fail">not approved</Pill>}
            </p>
            <p class="anywhere">
              <code>{visible(one.name)}</code>
            </p>
            <p class="small faint">{standing(one, now)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function standing({ approved, workflow, next, last }: TriggerShape, now: number): string {
  if (!approved) return `It starts nothing. To approve it: raymond trust ${visible(workflow)}`;
  const [first] = next;
  const due = first === undefined ? '' : `next ${clock(first, now)}, `;
  return `${due}${last ? `last ${clock(last.at, now)}: ${last.outcome}` : 'never yet'}`;
}

interface OccasionsProps {
  readonly occasions: readonly OccasionShape[];
  readonly now: number;
  readonly onReplay: () => void;
}

function Occasions({ occasions, now, onReplay }: OccasionsProps) {
  return (
    <section aria-labelledby="occasions">
      <h2 id="occasions">What happened</h2>
      <ol class="occasions">
        {occasions.map((one) => (
          <li key={one.id} aria-label={`${one.trigger}, ${one.outcome}`}>
            <span class="when faint">{clock(one.at, now)}</span>
            <Pill tone={TONES[one.outcome]}>{one.outcome}</Pill>
            <span class="what anywhere">
              <b>{lastName(one.workflow)}</b> {visible(one.trigger)}
              <span class="small faint anywhere">
                {causeText(one, now)}
                {one.why !== null && ` · ${visible(one.why)}`}
              </span>
            </span>
            {one.run !== null && (
              <a class="button quiet" href={runHash(one.run)}>
                Run
              </a>
            )}
            {one.kind === 'webhook' && <Replay occasion={one} onReplay={onReplay} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

const TONES: Readonly<Record<OccasionShape['outcome'], Tone>> = {
  due: 'wait',
  started: 'run',
  completed: 'done',
  failed: 'fail',
  skipped: 'rest',
  refused: 'fail',
};

function causeText({ kind, cause, replays, times }: OccasionShape, now: number): string {
  if (kind === 'schedule') return `due ${clock(cause, now)}${times > 1 ? `, ${times} times` : ''}`;
  if (kind === 'files') return visible(cause);
  return `${replays === null ? 'delivery' : 'replay'} ${visible(cause)}`;
}

interface ReplayProps {
  readonly occasion: OccasionShape;
  readonly onReplay: () => void;
}

function Replay({ occasion, onReplay }: ReplayProps) {
  const tools = useTools();
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble, ''));
  const replay = () =>
    send(async () => {
      await post(`/api/occasions/${encodeURIComponent(occasion.id)}/replay`, {});
      addDone(tools, '', 'The delivery is due again.');
      onReplay();
    });
  return (
    <button
      type="button"
      class="button quiet"
      disabled={isSending}
      aria-label={`Replay the delivery ${visible(occasion.cause)}`}
      onClick={replay}
    >
      Replay
    </button>
  );
}
