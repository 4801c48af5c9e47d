import type { Workflow } from '../model/workflow.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { CHOSEN_LATER } from './shown-tags.ts';
import { statesHere, waysOf } from './ways.ts';

/**
 * The paths of other workflows that a workflow names in its texts. Omits paths that are chosen at
 * run time.
 */
export function namedWorkflows(workflow: Workflow): readonly string[] {
  const paths = statesHere(workflow).flatMap((state) =>
    waysOf(workflow, state).flatMap(({ tag, body, origin }) => {
      if (TAG_RULES[tag].body !== 'path' || body === undefined) return [];
      const isText = origin === 'prompt' || origin === 'script';
      return isText && CHOSEN_LATER[origin].test(body.trim()) ? [] : [body.trim()];
    }),
  );
  return [...new Set(paths)];
}
