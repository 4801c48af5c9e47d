// Forecasts of the real program, from runs of scripts.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `[ -e ask ] && echo '<ask next="END">Well?</ask>' || echo '<goto>END</goto>'\n`,
  'flow/END.sh': `echo '<result>ok</result>'\n`,
};

test('finished runs colour the diagram and give a forecast, until the workflow changes', async () => {
  const project = newProject(FLOW);
  const heat = (...more: readonly string[]) =>
    command(project, ['diagram', 'flow', '--heat', 'time', ...more]);
  for (const runs of [0, 1, 2]) {
    expect(await heat()).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(
        `needs 3 completed runs of it with its current files. It has ${runs}.`,
      ),
    });
    expect(await command(project, ['flow', '--quiet'])).toMatchObject({ code: 0 });
  }
  const { stdout: svg } = await heat('--svg');
  expect(svg).toContain('With the figures of the mean of 3 runs.');
  expect(svg.match(/class="heat" x="[^"]+" y="[^"]+" width="[^"]+" height="50"/g)).toHaveLength(2);
  expect((await heat('--html')).stdout).toContain('the mean of 3 runs: 2 visits, $0.00');
  expect((await heat()).stdout).toMatch(/^ {2}style n\d fill:#[0-9a-f]{6}$/m);

  writeFileSync(project.path('ask'), '');
  expect(await command(project, ['flow', '--quiet', '--workflow-id', 'asks'])).toMatchObject({
    code: 2,
  });
  const shown = await command(project, ['show', 'asks']);
  expect(shown.stdout).toMatch(/^ {2}forecast {2}about \$0\.00 and .+ more \(half of 3 runs: /m);
  const { forecast } = JSON.parse((await command(project, ['show', 'asks', '--json'])).stdout);
  expect(forecast).toMatchObject({ kind: 'known', runs: 3 });
  const one = await command(project, ['diagram', '--run', 'asks', '--heat', 'time', '--svg']);
  expect(one.stdout).toContain('With the figures of this run.');

  writeFileSync(project.path('flow/END.sh'), `echo '<result>changed</result>'\n`);
  expect(await heat()).toMatchObject({ code: 64, stderr: expect.stringContaining('It has 0.') });
});

test('an unknown heat is wrong usage', async () => {
  const project = newProject(FLOW);
  expect(await command(project, ['diagram', 'flow', '--heat', 'love'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('Give one of these: cost, time.'),
  });
});
