/** Runs of the first release can be shown, answered and continued. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const journals = join(import.meta.dirname, '../journals/version-1');

/** Moves the run to this folder. Version 1 has no checksums, so its paths can be changed. */
function putBack(project: Project, run: string): void {
  for (const ending of ['json', 'jsonl']) {
    const text = readFileSync(join(journals, `${run}.${ending}`), 'utf8');
    const here = text.replaceAll('/project', project.folder);
    project.write(`.raymond/state/${run}.${ending}`, here);
  }
}

test('a run that waits for an answer', async () => {
  const project = newProject({
    'trouble/START.sh': 'exit 1',
    'trouble/AFTER.sh': 'echo "<result>a person said $RAYMOND_RESULT</result>"',
  });
  putBack(project, 'question');
  const before = project.read('.raymond/state/question.jsonl');
  expect((await command(project, ['show', 'question'])).stdout).toContain('asking: Is it done?');
  expect((await command(project, ['list'])).stdout).toMatch(/^question +waiting/m);
  const logs = await command(project, ['logs', 'question', '--json']);
  expect(logs.stdout).toMatch(/^\{"seq":1,"type":"run-started","version":2,/);
  expect(project.read('.raymond/state/question.jsonl')).toBe(before);

  await command(project, ['answer', 'question', 'yes']);
  // It has no seal, so Raymond does not recognise it as the user's.
  const refused = await command(project, ['resume', 'question']);
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain('an older Raymond');
  const resumed = await command(project, ['resume', 'question', '--trust-run']);
  expect(resumed).toMatchObject({ code: 0, stdout: 'a person said yes\n' });
  expect(project.read('.raymond/state/question.jsonl.old-1')).toBe(before);
  const seqs = project.journal('question').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(await command(project, ['prune', 'question'])).toMatchObject({ code: 0 });
  expect((await command(project, ['list'])).stdout).not.toContain('question');
});

test('a run that was killed while workers ran', async () => {
  const project = newProject({
    'crew/START.sh': 'exit 1',
    'crew/WORK.sh': `echo "$number" >>here
echo "<result>$number</result>"`,
  });
  putBack(project, 'killed');
  expect((await command(project, ['list'])).stdout).toMatch(/^killed +crashed/m);
  const resumed = await command(project, ['resume', 'killed', '--trust-run']);
  expect(resumed).toMatchObject({ code: 0, stdout: 'all are sent\n' });
  expect(project.lines('here').sort()).toEqual(['1', '2']);
});

test('a run that was killed while it asked a question and workers ran', async () => {
  const project = newProject({
    'asked/START.sh': 'exit 1',
    'asked/AFTER.sh': 'echo "<result>painted $RAYMOND_RESULT</result>"',
    'asked/WORK.sh': `echo "$number $RAYMOND_ATTEMPT" >>here
echo "<result>$number</result>"`,
  });
  putBack(project, 'asked');
  const steps = join(journals, 'asked.steps');
  cpSync(steps, project.path('.raymond/runs/asked/steps'), { recursive: true });
  const shown = (await command(project, ['show', 'asked'])).stdout;
  expect(shown).toContain('asking: Which colour?');
  expect(shown).toMatch(/main_work1 .* running/);
  await command(project, ['answer', 'asked', 'blue']);
  const resumed = await command(project, ['resume', 'asked', '--trust-run']);
  expect(resumed).toMatchObject({ code: 0, stdout: 'painted blue\n' });
  // The first worker finished after Raymond was killed. The end of the second one was not recorded.
  expect(project.lines('here')).toEqual(['2 2']);
  const state = JSON.parse((await command(project, ['show', 'asked', '--json'])).stdout);
  expect(state).toMatchObject({ condition: 'completed', agents: [] });
  const by = (id: string) => state.ended_agents.find((agent: { id: string }) => agent.id === id);
  expect(by('main')).toMatchObject({ parent: null, state: 'AFTER.sh', result: 'painted blue' });
  expect(by('main_work1')).toMatchObject({
    parent: 'main',
    state: 'WORK.sh',
    result: '1 was there',
  });
  expect(by('main_work2')).toMatchObject({ parent: 'main', state: 'WORK.sh', result: '2' });
});
