/** Gives notes to steps, and takes what they have changed. */
import { isInWay, lessonName, lessonText, type NoteChanges, noteFiles } from '../model/notes.ts';
import type { Run, RunningStatus } from '../model/run.ts';
import type { Account } from '../model/step-account.ts';
import { visible } from '../model/visible.ts';
import { decodeUtf8, encodeUtf8 } from '../parse/utf8.ts';
import type { StepsPorts } from './steps.ts';

type NotesPorts = Pick<StepsPorts, 'folders' | 'executors'>;

export class RunNotes {
  readonly #ports: NotesPorts;
  /** The agents whose folder has the notes of their running step. */
  readonly #given = new Set<string>();

  constructor(ports: NotesPorts) {
    this.#ports = ports;
  }

  /** A step that has begun has got its notes from the process that began it. */
  before({ notes, lessons }: Run, agent: string, status: RunningStatus, hasBegun: boolean): void {
    if (!status.notes) return;
    if (!hasBegun)
      this.#ports.folders.notes.put(agent, noteFiles(notes, lessons), status.notes.may);
    this.#given.add(agent);
  }

  /**
   * The changes of the step. Like files of the project, notes stay whatever became of the step. Changes of a
   * step that may only read are dropped.
   */
  after(
    run: Run,
    agent: string,
    { notes, rights }: RunningStatus,
    warn: (text: string) => void,
  ): Pick<Account, 'notes'> {
    if (notes?.may !== 'write' || !this.#given.has(agent)) return {};
    const { folders } = this.#ports;
    const found = folders.notes.read(agent);
    if (!found) {
      warn('The folder of notes is gone, so nothing of it was kept.');
      return {};
    }
    const lessons = new Map(run.lessons.map((one) => [one.name, one.text]));
    const changes: Record<string, NoteChanges[string]> = {};
    const refused = new Map(found.refused);
    const paths = [...found.files.keys()];
    for (const [path, bytes] of found.files) {
      if (folders.notes.digest(bytes) === notes.seen[path]) continue;
      const twin = paths.find((one) => one !== path && !refused.has(one) && isInWay(path, one));
      if (twin !== undefined) {
        refused.set(path, `its name differs from ${twin} only in the case of letters`);
        continue;
      }
      const cleaned = this.#cleaned(bytes, rights?.secrets ?? []);
      const decoded = cleaned && decodeUtf8(cleaned);
      if (!decoded?.ok) {
        refused.set(path, decoded ? 'it is not UTF-8' : 'its secrets cannot be removed');
        continue;
      }
      const { text } = decoded;
      if (lessons.get(lessonName(path) ?? '') === lessonText(text)) continue;
      changes[path] = { text, sha256: folders.notes.digest(encodeUtf8(text)) };
    }
    if (!found.isWhole) refused.set('the rest', 'the folder has too many entries');
    for (const path of found.isWhole ? Object.keys(notes.seen) : [])
      if (!found.files.has(path) && !refused.has(path)) changes[path] = null;
    if (refused.size > 0) warn(refusal(refused));
    return Object.keys(changes).length > 0 ? { notes: changes } : {};
  }

  /** The end of the step is recorded: its notes are the run's. */
  settle(agent: string): void {
    if (this.#given.delete(agent)) this.#ports.folders.notes.remove(agent);
  }

  #cleaned(bytes: Uint8Array, secrets: readonly string[]): Uint8Array | undefined {
    if (secrets.length === 0) return bytes;
    return this.#ports.executors.secrets?.clean(secrets, bytes);
  }
}

function refusal(refused: ReadonlyMap<string, string>): string {
  const shown = [...refused]
    .slice(0, MOST_SHOWN)
    .map(([path, why]) => `${visible(path).slice(0, 200)}: ${why}`);
  const more = refused.size > MOST_SHOWN ? `, and ${refused.size - MOST_SHOWN} more` : '';
  return `Not kept as notes: ${shown.join('; ')}${more}`;
}

const MOST_SHOWN = 5;
