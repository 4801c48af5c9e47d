// Decisions that concern steps on several workers. All tests share two workers.
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { effectsOf, RECORDING } from './effects.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

const LEFT = `${RECORDING}while :; do pass 0.05; done\n`;
const RIGHT = `${RECORDING}while [ ! -e "go $RAYMOND_WORKFLOW_ID" ]; do pass 0.05; done\n`;
const END = 'echo "<result>joined</result>"\n';

const FILES = {
  'all/START.sh': `echo '<fork>LEFT</fork><fork>RIGHT</fork><join>END</join>'\n`,
  'all/LEFT.sh': LEFT,
  'all/RIGHT.sh': `${RIGHT}exit 1\n`,
  'all/END.sh': END,
  'any/START.sh': `echo '<fork>LEFT</fork><fork>RIGHT</fork><join of="any">END</join>'\n`,
  'any/LEFT.sh': LEFT,
  'any/RIGHT.sh': `${RIGHT}echo "<result>first</result>"\n`,
  'any/END.sh': END,
};

let fleet: Fleet;

useFleet(FILES, (opened) => {
  fleet = opened;
  // Each worker executes one script, so two scripts are on different workers.
  for (const name of ['a', 'b']) fleet.worker(name, ['--scripts', '1']);
});

const raymond = (...args: readonly string[]) =>
  command(fleet.project, args, { env: { RAYMOND_DATABASE: fleet.url } });

/** The states of a run whose scripts have begun, or ended. */
const states = (run: string, what: 'begin' | 'end') =>
  effectsOf(fleet.project)
    .filter((effect) => effect.run === run && effect.what === what)
    .map(({ state }) => state)
    .sort();

async function atWork(workflow: string, run: string, ...options: string[]): Promise<void> {
  await raymond(workflow, '--workflow-id', run, '--detach', '--shared-directory', ...options);
  await eventually('both workers have a script', () => states(run, 'begin').length === 2);
}

test('a stop ends the steps of all workers', async () => {
  await atWork('all', 'stopped');
  expect(await raymond('stop', 'stopped', '--now')).toMatchObject({ code: 0 });
  expect((await fleet.ended('stopped')).status).toMatchObject({ outcome: 'interrupted' });
  expect(states('stopped', 'end')).toEqual(['LEFT.sh', 'RIGHT.sh']);
});

test('a failure with --fail-fast ends the steps of other workers', async () => {
  await atWork('all', 'failed', '--fail-fast');
  fleet.project.write('go failed', '');
  expect((await fleet.ended('failed')).status).toMatchObject({ outcome: 'failed' });
  expect(states('failed', 'end')).toEqual(['LEFT.sh', 'RIGHT.sh']);
});

test('a join that is reached ends the steps of other workers', async () => {
  await atWork('any', 'reached');
  fleet.project.write('go reached', '');
  expect(await fleet.ended('reached')).toMatchObject({ result: 'joined' });
  expect(states('reached', 'end')).toEqual(['LEFT.sh', 'RIGHT.sh']);
});
