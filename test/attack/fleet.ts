/** Somebody may write to the database of the runs, but has no key of their user. Workers are real processes. */
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { realDisk } from '../../src/journal/disk.ts';
import { endOldGuard } from '../../src/world/fleet/guard.ts';
import { eventually } from '../eventually.ts';
import { startServer } from '../postgres/server.ts';
import type { Ended, Started } from '../raymond.ts';
import { endSurvivors } from '../survivors.ts';
import type { Attack, Scene } from './attack.ts';

const ASKING = {
  'flow/START.sh': `echo '<ask next="GO">May I?</ask>'`,
  'flow/GO.md': 'Do it.',
};
const DEPLOYING = {
  'flow/START.sh': `echo '<fork next="ASK">TRICK</fork>'`,
  'flow/ASK.sh': `echo '<ask next="DEPLOY">May I deploy?</ask>'`,
  'flow/DEPLOY.sh': `[ "$RAYMOND_RESULT" = yes ] && touch deployed; echo '<result>ok</result>'`,
};

export const FLEET: readonly Attack[] = [
  ...[
    { name: 'later events are deleted after a stricter choice', where: 'here', isSlow: false },
    { name: 'the same, and the old row of the run is put back', where: 'here', isSlow: true },
    {
      name: 'old rows are put back, for a worker of another machine',
      where: 'elsewhere',
      isSlow: true,
    },
  ].map(
    ({ name, where, isSlow }): Attack => ({
      ...(isSlow && { isSlow: true as const }),
      name,
      expected: 'refused, and said so',
      files: () => ASKING,
      play: (scene) =>
        withFleet(scene, (fleet) =>
          setBack(fleet, where, name.startsWith('later') ? 'deleted' : 'restored'),
        ),
    }),
  ),
  {
    name: 'control: the same rows, for a worker that trusts all runs',
    isSlow: true,
    expected: 'permissions were skipped',
    files: () => ASKING,
    play: (scene) => withFleet(scene, (fleet) => setBack(fleet, 'trusting', 'restored')),
  },
  {
    name: 'control: the same rows, after the user has approved them',
    isSlow: true,
    expected: 'permissions were not skipped',
    files: () => ASKING,
    play: (scene) => withFleet(scene, (fleet) => setBack(fleet, 'approved', 'restored')),
  },
  {
    name: 'old rows are put back while the worker lives',
    isSlow: true,
    expected: 'refused, and said so',
    files: () => ASKING,
    play: (scene) => withFleet(scene, (fleet) => setBack(fleet, 'alive', 'restored')),
  },
  ...(['a worker with a key', 'control: a worker that trusts all runs'] as const).map(
    (name): Attack => {
      const isControl = name.startsWith('control');
      return {
        ...(isControl && { isSlow: true as const }),
        name: `${name}: a script answers the question of its run with psql`,
        expected: isControl ? 'deployed' : 'still asked, and said so',
        files: () => ({ ...DEPLOYING, 'flow/TRICK.sh': TRICK }),
        play: (scene) =>
          withFleet(scene, async (fleet) => {
            scene.project.write('stolen', fleet.url);
            await fleet.raymond('flow', '--detach', '--workflow-id', 'r');
            const worker = fleet.worker('w', isControl ? ['--trust-runs'] : []);
            await fleet.has('"result":"answered"');
            if (isControl) await fleet.has('"run-ended"');
            else
              await eventually('it is told', () =>
                worker.stderr().includes('ignored a message that none of your commands wrote'),
              );
            return existsSync(scene.project.path('deployed'))
              ? 'deployed'
              : 'still asked, and said so';
          }),
      };
    },
  ),
  {
    name: 'a stop that was posted before is posted again',
    isSlow: true,
    expected: 'the run went on; the new stop counted',
    files: () => ASKING,
    play: (scene) => withFleet(scene, stopAgain),
  },
  {
    name: 'the environment of a step on a worker',
    expected: 'nothing of the database',
    files: () => ({
      'flow/START.sh': `env >all; psql -c 'select 1' >told 2>&1; echo '<result>x</result>'`,
    }),
    play: (scene) =>
      withFleet(scene, async (fleet) => {
        await fleet.raymond('flow', '--detach', '--workflow-id', 'r');
        const { username, password, hostname, port, pathname } = new URL(fleet.url);
        const variables = {
          ...{ RAYMOND_DATABASE: 'postgres://', PGUSER: username, PGPASSWORD: password },
          ...{ PGHOST: hostname, PGPORT: port, PGDATABASE: pathname.slice(1) },
        };
        fleet.worker('w', [], variables);
        await fleet.has('"run-ended"');
        const found = scene.project
          .read('all')
          .match(/^(?:PG\w*|RAYMOND_DATABASE)=.*$|secret-.*/gm);
        const isOpen = scene.project.read('told').includes('(1 row)');
        return found || isOpen ? `${found} ${isOpen}` : 'nothing of the database';
      }),
  },
  {
    name: 'control: the environment of a step without a database for the runs',
    expected: 'PGPASSWORD=own',
    files: () => ({ 'flow/START.sh': 'env >all; echo "<result>x</result>"' }),
    play: async ({ project }) => {
      await project.run(['flow'], { env: { PGPASSWORD: 'own' } });
      return /^PG.*$/m.exec(project.read('all'))?.[0] ?? 'nothing';
    },
  },
];

/** With the address from anywhere: a file, the memory of the worker, or a colleague. */
const TRICK = `
url=$(cat stolen)
until psql "$url" -Atc "select event from raymond.events" | grep -q agent-asked; do sleep 0.05; done
at=$(psql "$url" -Atc "select event from raymond.events" | grep agent-asked | sed 's/.*"at":\\([0-9]*\\).*/\\1/')
message="{\\"kind\\":\\"answer\\",\\"agent\\":\\"main\\",\\"askedAt\\":$at,\\"text\\":\\"yes\\"}"
letter=$(printf '%s' "$message" | sed 's/"/\\\\"/g')
psql "$url" -c "insert into raymond.mail (run, message) values ('r', '$message'), ('r', '{\\"message\\":\\"$letter\\",\\"seal\\":\\"00\\"}')" \\
  -c "insert into raymond.wakeups values ('r', now()) on conflict (run) do update set at = now()" >/dev/null
echo '<result>answered</result>'`;

interface Stage {
  readonly scene: Scene;
  readonly url: string;
  raymond(...args: readonly string[]): Promise<Ended>;
  worker(name: string, args?: readonly string[], env?: Record<string, string>): Started;
  query(text: string, values?: readonly unknown[]): Promise<readonly pg.QueryResultRow[]>;
  /** Waits until the run has an event with this text. */
  has(text: string): Promise<void>;
  kill(worker: Started): Promise<void>;
}

async function withFleet(scene: Scene, act: (stage: Stage) => Promise<string>): Promise<string> {
  const server = await startServer();
  const url = server.url();
  const { project } = scene;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const states: string[] = [];
  const workers: Started[] = [];
  const query: Stage['query'] = async (text, values = []) =>
    (await client.query(text, [...values])).rows;
  const kill = async (worker: Started) => {
    worker.child.kill('SIGKILL');
    await worker.ended;
  };
  try {
    return await act({
      ...{ scene, url, query, kill },
      raymond: (...args) => project.run(args, { env: { RAYMOND_DATABASE: url } }),
      worker(name, args = [], env = {}) {
        const state = join(dirname(project.folder), `state of ${name}`);
        states.push(state);
        const worker = project.start(['worker', '--name', name, '--state', state, ...args], {
          env: {
            ...{ RAYMOND_DATABASE: url, RAYMOND_CLAUDE: FAKE_CLAUDE, FAKE_CLAUDE: 'acts' },
            ...{ FAKE_CLAUDE_ANSWER: '<result>done</result>', FAKE_CLAUDE_COMMAND: '' },
            ...{ FAKE_CLAUDE_LOG: logOf(scene), ...env },
          },
        });
        workers.push(worker);
        return worker;
      },
      has: (text) =>
        eventually(`an event has ${text}`, async () => {
          const found = await query('select from raymond.events where strpos(event, $1) > 0', [
            text,
          ]);
          return found.length > 0;
        }),
    });
  } finally {
    for (const worker of workers) await kill(worker);
    for (const state of states) {
      await endOldGuard({ disk: realDisk, file: join(state, 'guard') });
      await endSurvivors(project.folder, state);
    }
    await client.end();
    await server.dispose();
  }
}

const FAKE_CLAUDE = join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js');
const logOf = ({ project }: Scene) => join(dirname(project.folder), 'agent.log');

/**
 * The user has started a run that skips permissions, has changed their mind, and resumes it without. Then
 * the rows of the first choice are back, and the user answers the question.
 */
async function setBack(stage: Stage, where: string, how: 'deleted' | 'restored'): Promise<string> {
  const { scene, raymond, worker, query, has, kill } = stage;
  await raymond('flow', '--detach', '--workflow-id', 'r', '--dangerously-skip-permissions');
  const first = worker('first');
  await has('"agent-asked"');
  const putBack = await copied(query);
  const [before] = await query('select seq from raymond.runs');
  // On another machine with the same key, which has not carried the run.
  const elsewhere = join(dirname(scene.project.folder), 'another machine');
  const other = { XDG_STATE_HOME: elsewhere };
  if (where === 'elsewhere') {
    const keys = join(scene.project.environment.XDG_STATE_HOME ?? '', 'raymond', 'key');
    cpSync(keys, join(elsewhere, 'raymond', 'key'));
  }
  const next = where === 'elsewhere' ? worker('second', [], other) : undefined;
  if (next) await eventually('it works', () => next.stderr().includes('takes steps'));
  await raymond('stop', 'r');
  await has('"run-ended"');
  if (where !== 'alive') await kill(first);
  await raymond('resume', 'r', '--detach', '--no-dangerously-skip-permissions');
  await has('"run-resumed"');
  // A machine that has seen nothing of it could not know.
  if (next) await eventually('it has seen more', () => seenIn(elsewhere) > Number(before?.seq));
  if (how === 'deleted')
    await query(`with gone as (delete from raymond.events where seq > ${before?.seq})
      update raymond.runs set seq = ${before?.seq}, status = 'active',
        link = (select seal from raymond.events where seq = ${before?.seq})`);
  else await putBack();
  await query('delete from raymond.workers where name = $1', ['first']);
  const last =
    where === 'alive'
      ? first
      : (next ?? worker('second', where === 'trusting' ? ['--trust-runs'] : []));
  const isRefused = () => last.stderr().includes('r is left to other workers.');
  if (where === 'approved') {
    await eventually('it is refused', isRefused);
    const approved = await raymond('resume', 'r', '--detach', '--trust-run');
    if (approved.code !== 0) return approved.stderr;
  }
  await raymond('answer', 'r', 'yes');
  await eventually('it is decided', async () => {
    if (where !== 'approved' && isRefused()) return true;
    const ended = await query(`select from raymond.events where strpos(event, '"run-ended"') > 0`);
    return ended.length > 0;
  });
  const log = existsSync(logOf(scene)) ? readFileSync(logOf(scene), 'utf8') : '';
  if (log.includes('--dangerously-skip-permissions')) return 'permissions were skipped';
  if (log !== '') return 'permissions were not skipped';
  return /--trust-run/.test(last.stderr()) ? 'refused, and said so' : last.stderr();
}

/** The newest event of the run that a machine remembers. */
function seenIn(machine: string): number {
  const heads = join(machine, 'raymond', 'database-heads');
  const [file] = existsSync(heads) ? readdirSync(heads) : [];
  if (file === undefined) return 0;
  const { seq }: { readonly seq: number } = JSON.parse(readFileSync(join(heads, file), 'utf8'));
  return seq;
}

/** All rows of a run, as somebody has copied them. Gives a function that puts them back. */
async function copied(query: Stage['query']): Promise<() => Promise<void>> {
  const tables = ['runs', 'events', 'sources', 'claims', 'wakeups'];
  await query('create schema copies');
  for (const table of tables) await query(`create table copies.${table} as table raymond.${table}`);
  return async () => {
    await query('begin');
    await query('delete from raymond.runs');
    for (const table of tables) await query(`insert into raymond.${table} table copies.${table}`);
    await query('commit');
    await query(
      `insert into raymond.wakeups values ('r', now()) on conflict (run) do update set at = now()`,
    );
  };
}

async function stopAgain(stage: Stage): Promise<string> {
  const { raymond, worker, query, has } = stage;
  await raymond('flow', '--detach', '--workflow-id', 'r');
  const first = worker('first');
  await has('"agent-asked"');
  await stage.kill(first);
  const stopping = stage.scene.project.start(['stop', 'r'], {
    env: { RAYMOND_DATABASE: stage.url },
  });
  await eventually(
    'the stop is posted',
    async () => (await query('select from raymond.mail')).length > 0,
  );
  await query('create table copied as table raymond.mail');
  stopping.child.kill('SIGKILL');
  await query('delete from raymond.workers');
  const second = worker('second');
  await has('"run-ended"');
  await raymond('resume', 'r', '--detach');
  await has('"run-resumed"');
  await query('insert into raymond.mail (run, message) select run, message from copied');
  await query(
    `insert into raymond.wakeups values ('r', now()) on conflict (run) do update set at = now()`,
  );
  await eventually('it is refused', () => second.stderr().includes('ignored a message'));
  const ends = async () =>
    (await query(`select from raymond.events where strpos(event, '"run-ended"') > 0`)).length;
  const went = (await ends()) === 1 ? 'the run went on' : 'the run was stopped';
  await raymond('stop', 'r');
  return `${went}; ${(await ends()) === 2 ? 'the new stop counted' : 'the new stop did not count'}`;
}
