// Every door says who took a step of a state with several lanes, and why.
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'Übung eins/START.md':
    '---\nagent: [claude, codex]\nmodel: { claude: [opus, sonnet] }\n---\nWork, with <result>x</result>.\n',
  'Übung eins/rehearsal.yaml':
    'answers:\n  START: [{ failure: usage-limit }, { failure: not-logged-in }, <result>done</result>]\n',
};

test('lines, show, JSON and the state file name the lane and those that were passed over', async () => {
  const project = newProject(FLOW);
  const run = (...args: readonly string[]) => command(project, args);
  const started = await run('Übung eins', '--rehearse', '--workflow-id', 'r');
  expect(started).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(started.stderr).toContain('START.md starts by claude opus');
  expect(started.stderr).toMatch(/usage limit of claude opus: claude sonnet takes new sessions/);
  expect(started.stderr).toMatch(/claude is not logged in: codex takes new sessions until/);
  const why = 'by codex (usage limit of claude opus, claude sonnet is not logged in)';
  expect(started.stderr).toContain(`START.md starts (attempt 3) ${why}`);

  expect((await run('show', 'r', '--steps')).stdout).toMatch(/main:3 +START.md by codex /);
  expect((await run('show', 'r', 'main:3')).stdout).toContain(why);
  expect(JSON.parse((await run('show', 'r', 'main:3', '--json')).stdout)).toMatchObject({
    lane: {
      name: 'codex',
      passed: [
        { lane: 'claude opus', why: 'usage-limit' },
        { lane: 'claude sonnet', why: 'not-logged-in' },
      ],
    },
  });
  const listed = JSON.parse((await run('show', 'r', '--steps', '--json')).stdout);
  expect(listed.step_list.map(({ lane }: { lane: string }) => lane)).toEqual([
    ...['claude opus', 'claude sonnet', 'codex'],
  ]);
  const state = JSON.parse(project.read('.raymond/state/r.json'));
  expect(state.closed_lanes).toMatchObject({ claude: { why: 'not-logged-in' } });
  expect(Object.keys(state.limits)).toEqual(['claude opus']);
});
