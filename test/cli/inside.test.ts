/** The steps of a run must not decide in place of a person. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { BIN } from '../raymond.ts';
import { count, FLOWS, NEXT } from './asking.ts';

describe('a step of a run', () => {
  const nested = (tried: string) => ({
    ...FLOWS,
    'flow/START.sh': `echo '<fork next="TRY">ASK</fork>'`,
    'flow/ASK.sh': `echo '<ask next="NEXT" timeout="24h" timeout_next="NEXT">which colour?</ask>'`,
    'flow/NEXT.sh': NEXT,
    'flow/TRY.sh': `
until grep -q agent-asked .raymond/state/r.jsonl; do sleep 0.05; done
{ ${tried.replaceAll('raymond', `"${process.execPath}" "${BIN}"`)}; } >said 2>&1
echo "<result>$?</result>"`,
  });

  test.each([
    ['answer', 'raymond answer r yes', 'only a person can answer its questions'],
    ['answer, run unnamed', 'raymond answer yes', 'only a person can answer its questions'],
    ['answer, without an environment', 'env -i raymond answer r yes', 'only a person can answer'],
    [
      'answer, as a daemon',
      '(env -i setsid raymond answer r yes; echo $? >code) & wait; (exit "$(cat code)")',
      'only a person can answer',
    ],
    ['resume', 'raymond resume r --input yes', 'only a person can resume it'],
    ['config trust', 'raymond config trust --yes', 'only a person can trust a project'],
    [
      'trust --proposals',
      'raymond trust --proposals flow-1 --yes',
      'only a person can accept a proposal',
    ],
    ['trust', 'raymond trust --yes', 'only a person can trust a project'],
  ])('cannot decide in place of a person: %s', async (_, tried, text) => {
    const project = newProject(nested(tried));
    const life = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has tried', () => count(project, 'r', 'agent-ended') === 1);
    expect(project.read('said')).toContain(text);
    expect(project.read('said')).toContain('Run it in your own terminal.');
    expect(count(project, 'r', 'agent-answered')).toBe(0);
    await command(project, ['answer', 'r', 'mine']);
    expect(await life.ended).toMatchObject({ code: 0, stdout: '64\n' });
  });

  test('may answer another run, even one with the same name in another project', async () => {
    const project = newProject(nested('cd other && raymond answer r yes'));
    project.write('other/.git/HEAD', '');
    await project.run(['../ask', '--workflow-id', 'r'], { cwd: project.path('other') });
    const life = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has tried', () => count(project, 'r', 'agent-ended') === 1);
    await command(project, ['answer', 'r', 'mine']);
    expect(await life.ended).toMatchObject({ code: 0, stdout: '0\n' });
    expect(readdirSync(project.path('other', '.raymond', 'runs', 'r', 'inbox'))).toHaveLength(1);
  });

  test('of an inner run cannot answer the outer one either', async () => {
    const project = newProject({
      ...nested('raymond inner'),
      'inner/START.sh': `"${process.execPath}" "${BIN}" answer r yes >refused 2>&1; echo "<result>$?</result>"`,
    });
    const life = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has tried', () => count(project, 'r', 'agent-ended') === 1);
    expect(project.read('refused')).toContain('This command runs inside r');
    await command(project, ['answer', 'r', 'mine']);
    expect(await life.ended).toMatchObject({ code: 0 });
  });
});
