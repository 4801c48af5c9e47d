// A run gets the id of a run that was removed a moment ago. The worker still knows the first one.
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

test('a run with the id of a removed one also ends', async () => {
  const fleet = await Fleet.open(await newDatabase(), {
    'flow/START.sh': 'echo x >>words; echo "<result>$(wc -l <words)</result>"\n',
  });
  onTestFinished(() => fleet.dispose());
  const raymond = (...args: string[]) =>
    command(fleet.project, args, { env: { RAYMOND_DATABASE: fleet.url } });
  fleet.worker('only');
  for (const result of ['1', '2', '3']) {
    await raymond('flow', '--workflow-id', 'again', '--detach', '--shared-directory');
    expect((await fleet.ended('again')).result?.trim()).toBe(result);
    await fleet.database.query('delete from raymond.runs');
  }
});
