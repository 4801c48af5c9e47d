/** Keeps what agents propose as lessons for later runs of their workflow. Shows each one as a whole. */
import { runToSee } from '../../app/find-run.ts';
import { look } from '../../app/look.ts';
import { refuseInsideAny } from '../../app/refuse-inside.ts';
import { type Lesson, lessonName, lessonText, MOST_LESSONS } from '../../model/notes.ts';
import type { Run } from '../../model/run.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { visible } from '../../model/visible.ts';
import { forgetLessons, keepLessons, lessonsOf } from '../../world/config/lessons.ts';
import { notYours } from '../../world/sealed-choices.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { looseLibrary } from '../../world/wire.ts';
import { isAttended, stderr } from '../terminal/terminal.ts';
import { confirm } from '../terminal/terminal-door.ts';

export async function trustLessons(
  around: Surroundings,
  name: string | undefined,
  { yes = false }: { readonly yes?: boolean | undefined },
): Promise<number> {
  const id = await runToSee(around.store, name);
  await refuseInsideAny(around, 'keep a lesson');
  const { run, isOwn, doubt } = (await look(around, id)).found;
  if (!isOwn)
    throw new UserError('foreign-run', notYours(id, doubt), 'Keep lessons of your own runs only.');
  const known = await lessonsOf(run.workflow);
  const proposed = proposals(run).filter(
    (one) => !known.some(({ name, text }) => name === one.name && text === one.text),
  );
  if (proposed.length === 0) {
    stderr.say(`${id} proposes no lessons that you have not kept.`);
    return 0;
  }
  const kept: Lesson[] = [];
  for (const lesson of proposed) {
    if (Buffer.byteLength(lesson.text) > MOST_LESSONS.bytes) {
      stderr.say(`${titleOf(lesson)} has more than ${MOST_LESSONS.bytes / 1024} KiB.`);
      continue;
    }
    const earlier = known.find((one) => one.name === lesson.name);
    const replaces = earlier ? `, instead of the one of ${earlier.run}` : '';
    stderr.say(`${titleOf(lesson)}${replaces}:`, ...linesOf(lesson.text));
    const isWanted = yes || (isAttended() && (await confirm('Keep it for later runs?')));
    if (isWanted) kept.push(lesson);
  }
  if (kept.length === 0)
    throw new UserError(
      'not-approved',
      'No lesson was kept.',
      `To keep all that can be kept: raymond trust --lessons --yes ${shellWord(id)}`,
    );
  await keepLessons(run.workflow, kept);
  const which = shellWord(run.workflow);
  stderr.say(
    `Kept ${kept.map((one) => visible(one.name)).join(', ')}. To forget all lessons: raymond trust --lessons --revoke ${which}`,
  );
  return 0;
}

export async function revokeLessons(around: Surroundings, path: string | undefined) {
  if (path === undefined)
    throw new UserError(
      'usage',
      'No workflow is named.',
      'Write: raymond trust --lessons --revoke <workflow>',
    );
  const { ref } = await looseLibrary(around.cwd, {}).load(path);
  await refuseInsideAny(around, 'forget lessons');
  const count = await forgetLessons(ref);
  stderr.say(count > 0 ? `Later runs of ${path} get no lessons.` : `${path} had no lessons.`);
  return 0;
}

/** The journal says which step wrote each. */
const proposals = (run: Run): readonly Lesson[] =>
  [...run.notes].flatMap(([path, { text, agent, step }]) => {
    const name = lessonName(path);
    return name === undefined ? [] : { name, text: lessonText(text), run: run.id, agent, step };
  });

const titleOf = ({ name, run, agent, step }: Lesson) => `${name}, by ${run} ${agent}:${step}`;

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`);
