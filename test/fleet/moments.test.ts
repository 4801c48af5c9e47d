// Kills a worker at the worst moments. Triggers in the database hold the worker there.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newDatabase } from '../postgres/new-database.ts';
import type { Started } from '../raymond.ts';
import { effectsOf, overlaps, RECORDING } from './effects.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': `${RECORDING}echo "<goto>NEXT.sh</goto>"\n`,
  'flow/NEXT.sh': `${RECORDING}echo '<fork next="LAST.sh">END.sh</fork>'\n`,
  'flow/END.sh': `${RECORDING}echo "<result>end</result>"\n`,
  'flow/LAST.sh': `${RECORDING}echo "<result>next</result>"\n`,
};

interface Moment {
  readonly name: string;
  /** Holds the worker at the moment, until the connection that has the lock ends. */
  readonly hold: string;
  /** Whether the transaction may still commit after the worker was stopped. */
  readonly commits: boolean;
  /** The states that are executed a second time if another worker continues. */
  readonly repeated: readonly string[];
}

const HOLD = `create function hold() returns trigger language plpgsql as
  $$ begin perform pg_advisory_xact_lock(42); return null; end $$`;

const MOMENTS: readonly Moment[] = [
  {
    name: 'after the claim of a step, before its launch',
    hold: `create constraint trigger hold after update on raymond.claims deferrable initially deferred
             for each row when (new.claim > 0) execute function hold()`,
    commits: true,
    repeated: ['START.sh'],
  },
  {
    name: 'in the middle of a decision, which is lost',
    hold: `create trigger hold after insert on raymond.events for each row
             when (new.event like '%"agent-moved"%' or new.event like '%"step-ended"%') execute function hold()`,
    commits: false,
    repeated: ['START.sh'],
  },
  {
    name: 'when a decision is stored, before anything follows from it',
    hold: `create constraint trigger hold after insert on raymond.events deferrable initially deferred
             for each row when (new.event like '%"step-ended"%') execute function hold()`,
    commits: true,
    repeated: ['NEXT.sh'],
  },
];

/** The suite tries each moment with one of the two. */
const isPlayed = (index: number, who: 'same' | 'other') =>
  isLong || (index % 2 === 0 ? who === 'same' : who === 'other');
const played = (who: 'same' | 'other') => MOMENTS.filter((_, index) => isPlayed(index, who));

test.concurrent.each(played('same'))(
  'killed $name: the same worker continues, and repeats nothing',
  async ({ hold, commits }) => {
    await using play = await heldFleet(hold, commits, ['--lease', '60']);
    const { fleet, run } = play;
    await play.kill();
    fleet.worker('a', ['--lease', '60']);
    await expectEnding(fleet, run, []);
  },
);

test.concurrent.each(played('other'))(
  'killed $name: another worker continues, and repeats at most the step in flight',
  async ({ hold, commits, repeated }) => {
    await using play = await heldFleet(hold, commits, ['--lease', '4']);
    const { fleet, run } = play;
    await play.kill();
    fleet.worker('b', ['--lease', '4']);
    await expectEnding(fleet, run, repeated);
  },
);

async function heldFleet(hold: string, commits: boolean, args: readonly string[]) {
  const endings: (() => Promise<void>)[] = [];
  const url = await newDatabase((remove) => endings.unshift(remove));
  const fleet = await Fleet.open(url, FLOW);
  endings.unshift(() => fleet.dispose());
  const holder = await fleet.database.connect();
  endings.unshift(() => holder.end());
  await holder.query('select pg_advisory_lock(42)');
  await holder.query(HOLD);
  await holder.query(hold);
  const run = await fleet.begin('flow');
  const worker = fleet.worker('a', args);
  await eventually('the worker is held', () => isHeld(holder));
  return {
    fleet,
    run,
    kill: () => killHeld(worker, holder, commits),
    async [Symbol.asyncDispose]() {
      for (const end of endings) await end();
    },
  };
}

async function isHeld(holder: pg.Client): Promise<boolean> {
  const { rows } = await holder.query(
    "select from pg_locks where locktype = 'advisory' and objid = 42 and not granted",
  );
  return rows.length > 0;
}

/** A stopped worker does not learn that its transaction has committed. */
async function killHeld(worker: Started, holder: pg.Client, commits: boolean) {
  worker.child.kill(commits ? 'SIGSTOP' : 'SIGKILL');
  if (!commits) {
    await worker.ended;
    // The commit may have arrived, so the server has to die with the worker.
    await holder.query(
      "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 42 and not granted",
    );
  }
  await holder.query('select pg_advisory_unlock(42)');
  await eventually('the transaction is over', async () => !(await isHeld(holder)));
  worker.child.kill('SIGKILL');
  await worker.ended;
}

async function expectEnding(fleet: Fleet, run: string, repeated: readonly string[]) {
  expect(await fleet.ended(run)).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'next',
  });
  const effects = effectsOf(fleet.project);
  expect(overlaps(effects)).toEqual([]);
  const begins = effects.filter(({ what }) => what === 'begin').map(({ state }) => state);
  const again = begins.filter((state, index) => begins.indexOf(state) !== index);
  expect(repeated).toEqual(expect.arrayContaining(again));
  expect(new Set(begins)).toEqual(new Set(['START.sh', 'NEXT.sh', 'END.sh', 'LAST.sh']));
}
