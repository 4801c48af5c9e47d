import { waysOf } from '../graph/ways.ts';
import type { Tag } from '../model/tag.ts';
import type { ScriptState, Workflow } from '../model/workflow.ts';
import { writeTag } from '../parse/transition.ts';
import { writtenChoices } from './choices.ts';

/**
 * What a script may print, as far as its text shows, in the author's order. Targets that it computes
 * are not known, so such tags are left out.
 */
export function scriptAnswers(workflow: Workflow, script: ScriptState): readonly string[] {
  const choices = writtenChoices(waysOf(workflow, script));
  const answers = choices.flatMap(({ tags }) => (tags ? [tags.map(written).join('\n')] : []));
  return [...new Set(answers)];
}

/** A directory that the script would have made does not exist when the script is not executed. */
function written({ attributes: { cd: _, ...attributes }, ...tag }: Tag): string {
  return writeTag({ ...tag, attributes });
}
