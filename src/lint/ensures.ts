/** Checks that have no effect. */
import type { Way } from '../graph/ways.ts';
import { writtenParts } from '../interpret/policy.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AllowedTransition, Workflow } from '../model/workflow.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

/** A check whose transitions the state can never take, judged by everything that the state names. */
export function neverChecked(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap(({ name, policy }) => {
    const ways = (lint.ways.get(name) ?? []).filter(isOfAgent);
    // If the state names no transition, the agent may write any tag.
    if (ways.length === 0) return [];
    return policy.ensures.flatMap((ensure) =>
      (ensure.on ?? [])
        .filter((entry) => !ways.some((way) => mayMatch(lint.workflow, entry, way)))
        .map((entry) => {
          const { tag, body } = entry;
          const written = body === undefined ? tag : `${tag} ${body}`;
          const message = `This check waits for ${written}, which the state never takes.`;
          return fault('check-never-runs', name, entry, message, {
            remedy: 'Name a transition of this state, or remove on to check every transition.',
          });
        }),
    );
  });
}

const isOfAgent = ({ origin }: Way) => origin !== 'evaluator' && origin !== 'ensures';

function mayMatch(workflow: Workflow, entry: AllowedTransition, way: Way): boolean {
  if (entry.tag !== way.tag) return false;
  if (entry.body === undefined || way.body === undefined) return true;
  const target = (body: string) =>
    writtenParts(workflow, { name: entry.tag, body, attributes: {} }).get('');
  return target(entry.body) === target(way.body);
}
