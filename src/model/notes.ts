/**
 * What the agents of a run note for each other, and what people have kept of it for later runs. Notes are
 * texts, by their paths in the folder that a step gets. A note in `lessons/` is proposed as a lesson.
 */
import * as z from 'zod/mini';
import type { PersistentMap } from './persistent-map.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());
/** The text as a file, so that a step that changes nothing is recognised. */
const written = { text, sha256: text };

/** Whether a state may change the notes. */
export const NOTES_ACCESS = ['read', 'write'] as const;
export const notesAccessSchema = z.enum(NOTES_ACCESS);

/** The changes of a step, by path; null for a note that it removed. */
export const noteChangesSchema = z.readonly(z.record(text, z.nullable(z.object(written))));

/** A note, and the step that wrote it. */
export const noteSchema = z.object({ ...written, agent: text, step: count });
export const notesSchema = z.readonly(z.record(text, noteSchema));

/** A note that a person has kept for later runs of the workflow, and the step that wrote it. */
export const lessonSchema = z.object({
  name: text,
  text,
  run: text,
  agent: text,
  step: count,
});

export type NotesAccess = z.infer<typeof notesAccessSchema>;
export type NoteChanges = z.infer<typeof noteChangesSchema>;
export type Note = z.infer<typeof noteSchema>;
export type Lesson = z.infer<typeof lessonSchema>;

/** Lessons are part of every later run. */
export const MOST_LESSONS = { count: 50, bytes: 4 * 1024, allBytes: 32 * 1024 } as const;

export const LESSONS = 'lessons/';

/** The name of the lesson that a note proposes. */
export function lessonName(path: string): string | undefined {
  const name = path.startsWith(LESSONS) ? path.slice(LESSONS.length) : '';
  return name === '' || name.includes('/') ? undefined : name;
}

/** A lesson as a file: agents have to see whose words it has. */
export const lessonFile = ({ run, agent, step, text }: Lesson) =>
  `${HEAD}${run}, ${agent}:${step}.\n\n${text}`;

/** The words of an agent in a file that it may have begun with a lesson of an earlier run. */
export const lessonText = (file: string) => file.replace(OWN_HEAD, '');

const HEAD = 'A lesson of an earlier run: ';
const OWN_HEAD = new RegExp(`^${HEAD}[^\\n]*\\n\\n`);

/**
 * Whether two notes cannot both be files of one folder, on any disk: one has the place of the other, apart
 * from the case of letters, or of a folder around it.
 */
export function isInWay(one: string, other: string): boolean {
  const [a, b] = [placeOf(one), placeOf(other)];
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

const placeOf = (path: string) => path.normalize('NFC').toLowerCase();

/** The files that a step finds: the notes of the run, and the lessons that are not in their way. */
export function noteFiles(
  notes: PersistentMap<Note>,
  lessons: readonly Lesson[],
): ReadonlyMap<string, string> {
  const own = [...notes].map(([path, { text: of }]) => [path, of] as const);
  const kept = lessons
    .map((lesson) => [`${LESSONS}${lesson.name}`, lessonFile(lesson)] as const)
    .filter(([path]) => !own.some(([other]) => isInWay(path, other)));
  return new Map([...kept, ...own]);
}

/**
 * The notes after a step has changed some of them. What is written last replaces what is in its way, because
 * agents that write at the same time do not see each other.
 */
export function withChanges(
  notes: PersistentMap<Note>,
  changes: NoteChanges,
  by: { readonly agent: string; readonly step: number },
): PersistentMap<Note> {
  let next = notes;
  for (const [path, change] of Object.entries(changes)) {
    next = next.delete(path);
    if (!change) continue;
    for (const [other] of next) if (isInWay(path, other)) next = next.delete(other);
    next = next.set(path, { ...change, agent: by.agent, step: by.step });
  }
  return next;
}
