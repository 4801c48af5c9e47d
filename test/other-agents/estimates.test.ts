// Codex reports tokens and no cost. An amount that Raymond has computed is marked everywhere.
import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { TOOLS } from '../../src/mcp/tools.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { partsFor } from '../serve/in-process.ts';
import { served } from '../serve/served.ts';
import { codexSandbox } from './codex-sandbox.ts';
import { scriptedResponses } from './scripted-responses.ts';

const FLOW = {
  'flow/START.sh': `[ -e ask ] && echo '<ask next="WORK">Well?</ask>' || echo '<goto>WORK</goto>'`,
  'flow/WORK.md': '---\nagent: codex\n---\nwork',
};

test('estimates are marked in every output', async () => {
  const responses = await scriptedResponses(() => '<result>done</result>');
  const codex = await codexSandbox(responses.url);
  onTestFinished(async () => {
    await responses.close();
    await codex.remove();
  });
  const { HOME: _home, ...env } = codex.environment;
  const project = newProject(FLOW);
  const raymond = async (...args: string[]) => (await command(project, args, { env })).stdout;
  const json = async (...args: string[]) => JSON.parse(await raymond(...args, '--json'));
  for (const id of ['a', 'b', 'c']) await raymond('flow', '--workflow-id', id, '--quiet');
  writeFileSync(project.path('ask'), '');
  await raymond('flow', '--workflow-id', 'asks', '--quiet');

  const amount = /~\$0\.\d+/;
  expect(await raymond('list')).toMatch(amount);
  const shown = await raymond('show', 'a');
  for (const line of [/cost +~\$/, /main .* ~\$.* ended: done/, /WORK\.md +1 .* ~\$/])
    expect(shown).toMatch(line);
  expect(shown).not.toMatch(/[^~]\$0\.000[1-9]/);
  expect(await raymond('show', 'a', '--steps')).toMatch(/main:2 +WORK\.md .* ~\$0\.\d+ +ended/);
  expect(await raymond('show', 'a', '--timeline', '--svg')).toMatch(/WORK\.md, step 2: .*, ~\$0/);
  expect(await raymond('show', 'asks')).toMatch(
    /forecast +about ~\$0\.\d+ and .* ~\$0\.\d+ to ~\$/,
  );
  for (const args of [
    ['--run', 'a'],
    ['flow', '--heat', 'cost'],
  ]) {
    expect(await raymond('diagram', ...args, '--svg')).toMatch(amount);
    expect(await raymond('diagram', ...args, '--html')).toMatch(/1× · .* · ~\$0/);
  }

  const isEstimate = { cost_is_estimate: true };
  const work = expect.objectContaining({ state: 'WORK.md', ...isEstimate });
  const start = expect.not.objectContaining(isEstimate);
  expect(await json('show', 'a')).toMatchObject({
    ...isEstimate,
    agents: [isEstimate],
    states: [start, work],
  });
  expect(await json('show', 'a', '--steps')).toMatchObject({ step_list: [start, work] });
  expect(await json('show', 'a', '--timeline')).toMatchObject({
    timeline: { rows: [{ bars: [start, work] }] },
  });
  expect(await json('show', 'asks')).toMatchObject({ forecast: isEstimate });

  const { store, control } = await partsFor(project);
  const { signal: closed } = new AbortController();
  const show = TOOLS.find(({ name }) => name === 'show');
  const parts = { store, control, mostBudgetUsd: 0, mayAllow: false, closed };
  expect(await show?.act({ run: 'a' }, parts)).toMatchObject({
    ...isEstimate,
    agents: [isEstimate],
  });

  const { get } = await served(project);
  expect((await get('/api/runs?status=completed')).body).toMatchObject({
    runs: [isEstimate, isEstimate, isEstimate],
  });
  expect((await get('/api/runs/a')).body).toMatchObject({
    ...isEstimate,
    agents: [isEstimate],
    states: [start, work],
    timeline: { rows: [{ bars: [start, work] }] },
  });
  expect((await get('/api/runs/a/steps/main/2')).body).toMatchObject({ outcome: isEstimate });
  const { body } = await get('/api/runs/a/graph');
  expect(body).toMatchObject({ nodes: expect.arrayContaining([work]) });
  expect(await raymond('rewind', 'c', '--to', 'main:2', '--yes', '--no-files', '--json')).toContain(
    '"cost_is_estimate":true',
  );
});
