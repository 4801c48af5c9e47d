/** The notes of a run, for `raymond show RUN --notes`. */
import { look } from '../../app/look.ts';
import { lessonName } from '../../model/notes.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';

export async function showNotes(
  around: Surroundings,
  id: string,
  { json }: { readonly json?: boolean | undefined },
): Promise<number> {
  const { run } = (await look(around, id)).found;
  const notes = [...run.notes].sort(([a], [b]) => (a < b ? -1 : 1));
  if (json) {
    const texts = notes.map(([path, { text, agent, step }]) => ({ path, agent, step, text }));
    stdout.json({ run: id, notes: texts, lessons: run.lessons }, 2);
    return 0;
  }
  if (notes.length === 0) stdout.say(`${id} has no notes.`);
  for (const [path, { text, agent, step }] of notes) {
    const what = lessonName(path) === undefined ? '' : ', proposed as a lesson';
    stdout.say(`${path}, by ${agent}:${step}${what}`);
    stdout.say(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => `    ${line}`),
      '',
    );
  }
  for (const { name, run: from, agent, step } of run.lessons)
    stdout.say(`Lesson ${name}, by ${from} ${agent}:${step}`);
  if (notes.some(([path]) => lessonName(path) !== undefined))
    stdout.say(`To keep lessons for later runs: raymond trust --lessons ${shellWord(id)}`);
  return 0;
}
