/** Runs of earlier versions can be shown, answered and continued, after one question. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checksumOf } from '../../src/journal/checksum.ts';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

describe.each([1, 2])('version %i', (version) => {
  const journals = join(import.meta.dirname, `../journals/version-${version}`);

  /** Moves the run to this folder. */
  function putBack(project: Project, run: string): void {
    for (const ending of ['json', 'jsonl']) {
      const text = readFileSync(join(journals, `${run}.${ending}`), 'utf8');
      const here = text.replaceAll('/project', project.folder);
      // Version 1 has no checksums.
      const sums = here.replaceAll(
        /^(.*),"crc":"[0-9a-f]{8}"\}$/gm,
        (_, covered) => covered + checksumOf(Buffer.from(covered)),
      );
      project.write(`.raymond/state/${run}.${ending}`, sums);
    }
  }

  function waiting(): Project {
    const project = newProject({
      'trouble/START.sh': 'exit 1',
      'trouble/AFTER.sh': `echo '<ask next="LAST">Are you sure?</ask>'`,
      'trouble/LAST.sh': 'echo "<result>a person said $RAYMOND_RESULT</result>"',
    });
    putBack(project, 'question');
    return project;
  }

  test('a run that waits for an answer', async () => {
    const project = waiting();
    const before = project.read('.raymond/state/question.jsonl');
    expect((await command(project, ['show', 'question'])).stdout).toContain('asking: Is it done?');
    expect((await command(project, ['list'])).stdout).toMatch(/^question +waiting/m);
    const logs = await command(project, ['logs', 'question', '--json']);
    expect(logs.stdout).toMatch(/^\{"seq":1,"type":"run-started","version":3,/);
    expect(project.read('.raymond/state/question.jsonl')).toBe(before);

    await command(project, ['answer', 'question', 'yes']);
    // Its lines have no authenticator, so Raymond does not recognise it as the user's.
    const refused = await command(project, ['resume', 'question']);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('An older Raymond');
    expect(project.read('.raymond/state/question.jsonl')).toBe(before);
    const resumed = await command(project, ['resume', 'question', '--trust-run']);
    expect(resumed).toMatchObject({ code: 2, stdout: '' });
    expect(project.read('.raymond/state/question.jsonl.old-1')).toBe(before);

    // It is the user's own now.
    expect(await command(project, ['answer', 'question', 'certainly'])).toMatchObject({ code: 0 });
    const again = await command(project, ['resume', 'question']);
    expect(again).toMatchObject({ code: 0, stdout: 'a person said certainly\n' });
    expect(again.stderr).not.toContain('An older Raymond');
    const seqs = project.journal('question').map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await command(project, ['prune', 'question'])).toMatchObject({ code: 0 });
    expect((await command(project, ['list'])).stdout).not.toContain('question');
  });

  test('a person at a terminal is asked once', async () => {
    const project = waiting();
    await command(project, ['answer', 'question', 'yes']);
    const terminal = atTerminal(project, ['resume', 'question', '--plain']);
    await eventually('it asks', () => terminal.screen().includes('Resume it?'));
    terminal.type('y\n');
    await eventually('the run continues', () => terminal.screen().includes('Are you sure?'));
    terminal.type('certainly\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('a person said certainly');
    expect(terminal.screen().match(/An older Raymond/g)).toHaveLength(1);
  });

  test('a run that was killed while children ran', async () => {
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

  test('a run that was killed while it asked a question and children ran', async () => {
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
    // The first child had finished, but its record has no seal, so both are repeated.
    expect(project.lines('here').sort()).toEqual(['1 2', '2 2']);
    const state = JSON.parse((await command(project, ['show', 'asked', '--json'])).stdout);
    expect(state).toMatchObject({ condition: 'completed', counts: { ended: 3 } });
    const by = (id: string) => state.agents.find((agent: { id: string }) => agent.id === id);
    const ended = (text: string) => ({ status: { kind: 'ended', result: { text } } });
    expect(by('main')).toMatchObject({ parent: null, state: 'AFTER.sh', ...ended('painted blue') });
    expect(by('main_work1')).toMatchObject({ parent: 'main', state: 'WORK.sh', ...ended('1') });
    expect(by('main_work2')).toMatchObject({ parent: 'main', state: 'WORK.sh', ...ended('2') });
  });
});
