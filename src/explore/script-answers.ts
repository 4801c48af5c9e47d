import { waysOf } from '../graph/ways.ts';
import type { Tag } from '../model/tag.ts';
import type { ScriptState, Workflow } from '../model/workflow.ts';
import { writeTag } from '../parse/transition.ts';
import { writtenChoices } from './choices.ts';

/**
 * The tags that a script may print according to its text, in the author's order. Tags whose
 * targets the script computes are left out.
 */
export function scriptAnswers(workflow: Workflow, script: ScriptState): readonly string[] {
  const choices = writtenChoices(waysOf(workflow, script));
  const answers = choices.flatMap(({ tags }) => (tags ? [tags.map(written).join('\n')] : []));
  return [...new Set(answers)];
}

/** The script is not executed, so a directory that it would create does not exist. */
function written({ attributes: { cd: _, ...attributes }, ...tag }: Tag): string {
  return writeTag({ ...tag, attributes });
}
