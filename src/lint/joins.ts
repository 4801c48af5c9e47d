/** Joins that wait for nothing, and children that no join waits for. */

import { isOpen, type Way } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { fault } from './codes.ts';
import { type Lint, scripts } from './rule.ts';

/** No state that the same agent can be in forks a child. */
export function joinsWithoutForks(lint: Lint): readonly Diagnostic[] {
  return agentsOf(lint).flatMap(({ states, isComplete }) => {
    const ways = states.flatMap((state) => withState(lint, state));
    if (!isComplete || ways.some(({ way }) => isFork(way))) return [];
    return ways.flatMap(({ state, way }) =>
      way.tag === 'join'
        ? fault(
            'join-without-fork',
            state,
            way,
            'The agent forks no child agent before this join.',
            {
              remedy: 'Write the forks beside the join, or replace it with a goto.',
            },
          )
        : [],
    );
  });
}

/** A script without a loop shows each of its forks. */
export function tooFewForks(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text }) => {
    const ways = lint.ways.get(name) ?? [];
    const forks = ways.filter(isFork).length;
    if (forks === 0 || LOOP.test(text)) return [];
    return ways.flatMap((way) => {
      const wanted = way.tag === 'join' ? Number(way.attributes.of) : 0;
      if (!(wanted > forks)) return [];
      const message = `This join waits for ${wanted} results, but the script forks ${forks}.`;
      return fault('too-few-forks', name, way, message, {
        remedy: `Write at most of="${forks}", or fork more child agents.`,
      });
    });
  });
}

const LOOP = /\b(?:for|foreach|while|until|select|xargs|parallel|seq|repeat|do)\b|%/i;

export function unjoinedForks(lint: Lint): readonly Diagnostic[] {
  return agentsOf(lint).flatMap(({ states, isComplete }) => {
    const ways = states.flatMap((state) => withState(lint, state));
    if (!isComplete || ways.some(({ way }) => way.tag === 'join')) return [];
    const firsts = states.flatMap(
      (state) => withState(lint, state).find(({ way }) => isFork(way)) ?? [],
    );
    return firsts.map(({ state, way }) =>
      fault('unjoined-fork', state, way, 'No state of this agent joins its child agents.', {
        remedy: 'If their results or failures matter, wait for them with <join>STATE</join>.',
      }),
    );
  });
}

const isFork = ({ tag }: Way) => TAG_RULES[tag].variables;

function withState({ ways }: Lint, state: StateName) {
  return (ways.get(state) ?? []).map((way) => ({ state, way }));
}

interface PossibleAgent {
  /** The states that one agent can be in. */
  readonly states: readonly StateName[];
  /** All its transitions are known. */
  readonly isComplete: boolean;
}

/**
 * Groups of states that are connected by transitions of one agent. A fork is not one of these, because
 * its target belongs to the child. An agent therefore stays in one group, and a group may contain
 * several agents.
 */
function agentsOf({ ways, states }: Lint): readonly PossibleAgent[] {
  const neighbours = new Map<StateName, StateName[]>();
  const connect = (a: StateName, b: StateName) => {
    const known = neighbours.get(a);
    if (known) known.push(b);
    else neighbours.set(a, [b]);
  };
  for (const [from, own] of ways) {
    for (const way of own) {
      for (const reference of way.references) {
        if (reference.kind !== 'state' || (isFork(way) && reference.part === 'target')) continue;
        connect(from, reference.state);
        connect(reference.state, from);
      }
    }
  }
  const seen = new Set<StateName>();
  return states.flatMap(({ name }) => {
    if (seen.has(name)) return [];
    seen.add(name);
    const group = [name];
    // The group grows during this loop.
    for (const at of group) {
      for (const next of neighbours.get(at) ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        group.push(next);
      }
    }
    const isComplete = group.every((state) => (ways.get(state) ?? []).every(isKnown));
    return [{ states: group, isComplete }];
  });
}

/** In another workflow the same agent may fork or join. */
function isKnown(way: Way): boolean {
  return !isOpen(way) && (TAG_RULES[way.tag].body !== 'path' || isFork(way));
}
