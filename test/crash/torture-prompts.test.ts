import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newProject } from '../new-project.ts';
import { survivors } from '../survivors.ts';
import { preparePrompts } from './prompt-game.ts';
import { type Ending, GAMES, SUITE_SEED, torture, undisturbedEnding } from './torture.ts';

/** Every kill needs a new start, which is slow on a busy machine. */
const LONG = { timeout: 240_000 };

let expected: Ending;
beforeAll(async () => {
  expected = await undisturbedEnding('prompts');
}, 120_000);

test('the workflow hands over in the main agent, in a callee and in children, and asks a person', () => {
  const events = JSON.stringify(expected.agents);
  expect(events.match(/"tag":"compact"/g)).toHaveLength(5);
  expect(expected.notes.filter((note) => note.includes('from a handover'))).toHaveLength(5);
  expect(expected.notes.filter((note) => note.includes('allowed'))).toHaveLength(7);
  expect(expected.stdout).toBe('all done\n');
});

const VICTIMS = isLong ? GAMES.prompts.victims : (['raymond'] as const);

test.each(VICTIMS)(
  'each prompt is asked, handed over and permitted once: killing %s',
  LONG,
  async (victims) => {
    const kills = await torture({ game: 'prompts', seed: SUITE_SEED, kills: 3, victims }, expected);
    expect(Object.keys(kills)).not.toEqual([]);
  },
);

test('an agent that waits for a prompt is ended although Raymond was killed right after the end', async () => {
  const project = newProject({
    'prompts/START.md': 'AGENT={{agent_id}} STATE=ASKED.md ITEM= N=;\n',
  });
  const env = preparePrompts(project);
  const life = project.start(['prompts', '--workflow-id', 'r', '--ask-permissions'], { env });
  await eventually(
    'the run has ended',
    () => project.journal('r').some(({ type }) => type === 'run-ended'),
    1,
  );
  // This agent does not exit when it is asked to, so Raymond is still there.
  life.child.kill('SIGKILL');
  expect(await life.ended).toMatchObject({ signal: 'SIGKILL' });
  expect(survivors(project.folder)).not.toEqual([]);
  const again = await project.run(['resume', 'r'], { env });
  expect(again).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(survivors(project.folder)).toEqual([]);
});
