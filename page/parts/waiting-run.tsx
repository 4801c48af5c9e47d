import type { StoredRow } from '../../src/look/run-shape.ts';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { clock, costText, duration, elapsed, msOf, oneLine, visible } from '../lib/words.ts';
import { runHash } from '../stores/route.ts';
import { useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly askedAt: string;
  readonly deadline: string | null;
  /** The page of the run has its name, input and cost already. */
  readonly isAtRun: boolean;
}

/** For which run somebody waits, how much it has cost, and for how long it has waited. */
export function WaitingRun({ run, askedAt, deadline, isAtRun }: Props) {
  const row = useStore(useTools().runs.runs)?.find(({ id }) => id === run);
  const now = useNow(1_000);
  const waited = now - msOf(askedAt);
  const left = deadline === null ? undefined : msOf(deadline) - now;
  return (
    <p class="about-run small">
      {!isAtRun && (
        <>
          <a href={runHash(run)}>{visible(run)}</a>
          {row && 'input' in row && <Purpose row={row} />}
        </>
      )}
      <span class="faint" title={clock(askedAt, now)}>
        waits for {waited < HOUR ? elapsed(waited) : duration(waited)}
      </span>
      {left !== undefined && (
        <span class={left < SOON ? 'tone-wait' : 'faint'}>
          <span class="told">
            {left > 0 ? `${elapsed(left)} left to answer` : 'no time left to answer'}
          </span>
        </span>
      )}
    </p>
  );
}

const [SOON, HOUR] = [5 * 60_000, 3_600_000];

function Purpose({ row }: { readonly row: StoredRow }) {
  return (
    <>
      {row.input && <span class="clip purpose">{oneLine(row.input.text, 200)}</span>}
      <span class="faint">{costText(row)}</span>
    </>
  );
}
