/** Faults in the paths of a workflow, found by exploring it. */

import type { Configuration, Walk } from '../explore/walk.ts';
import { componentsOf } from '../graph/components.ts';
import { statesHere, type Way } from '../graph/ways.ts';
import { handoverFor } from '../interpret/handover.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FailureKind } from '../model/failure.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { resolveState } from '../parse/resolve.ts';
import { stemOf } from '../parse/state.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { type Code, fault } from './codes.ts';
import { explanations } from './names.ts';
import { forbiddenTags } from './policy-tags.ts';
import { startOf } from './rule.ts';

/** `faulty`: the states with a tag that cannot be followed. Such a tag may be meant for any state. */
export function flowFaults(
  workflow: Workflow,
  walk: Walk,
  faulty: ReadonlySet<string> = new Set(),
): readonly Diagnostic[] {
  const reached = new Set([...walk.configurations.values()].map(({ state }) => state));
  const states = [...workflow.states.values()].filter(({ name }) => reached.has(name));
  const certain = [
    ...unresolvedWays(walk),
    ...refusals(walk),
    ...states.flatMap((state) => forbiddenTags(workflow, state)),
    ...deadEnds(workflow, walk).filter(({ file }) => !faulty.has(file)),
    ...resultsThatEnd(walk),
  ];
  // The unexplored part could still refute these.
  if (walk.boundHit) return certain;
  const isUncertain =
    walk.unresolved.length > 0 ||
    walk.faults.length > 0 ||
    states.some(({ name }) => faulty.has(name));
  return [
    ...certain,
    ...(isUncertain ? [] : unreachableStates(workflow, walk, reached)),
    ...callsThatNeverReturn(walk),
    ...endlessLoops(workflow, walk),
  ];
}

function unresolvedWays({ unresolved }: Walk): readonly Diagnostic[] {
  const explain = explanations();
  const states = new Map(unresolved.map(({ at, way }) => [way, at.state]));
  return [...states].flatMap(([way, state]) => explain(state, way));
}

/** Transitions that the language itself rejects. */
function refusals({ faults }: Walk): readonly Diagnostic[] {
  const seen = new Set<object>();
  return faults.flatMap(({ at, way, failure }) => {
    const code = refusalCode(way, failure.kind);
    if (!code || seen.has(way)) return [];
    seen.add(way);
    return fault(code, at.state, way, failure.message, {
      remedy: `Correct the <${way.tag}>, or remove it.`,
    });
  });
}

function refusalCode(way: Way, kind: FailureKind): Code | undefined {
  switch (kind) {
    case 'missing-state':
    case 'ambiguous-state':
      return kind;
    case 'forbidden-transition':
      return 'forbidden-tag';
    case 'bad-transition':
      return TAG_RULES[way.tag].variables && way.attributes.next === undefined
        ? 'fork-without-next'
        : 'bad-transition';
    default:
      return undefined;
  }
}

function deadEnds(workflow: Workflow, { deadEnds: found }: Walk): readonly Diagnostic[] {
  const names = new Set([...found].map(({ state }) => state));
  return [...names].flatMap((name) => {
    const state = workflow.states.get(name);
    if (!state || state.kind === 'broken') return [];
    const [message, remedy] =
      state.kind === 'prompt'
        ? [
            `${name} has no allowed_transitions and shows no tag, so its agent cannot know how to continue.`,
            'Name the tag that ends the step in the prompt, or list the transitions in allowed_transitions.',
          ]
        : [
            `The text of ${name} shows no tag that it prints.`,
            'Print one, for example <goto>NEXT</goto>. If another program prints the tag, ignore this warning.',
          ];
    return fault('dead-end', name, state.place, message, { remedy });
  });
}

/** The same result returns to a caller on one path and ends the run on another. */
function resultsThatEnd({ results }: Walk): readonly Diagnostic[] {
  const returned = new Set(results.filter(({ at }) => at.isCalled).map(({ way }) => way));
  const seen = new Set<object>();
  return results.flatMap(({ at, way }) => {
    if (at.activation.kind !== 'main' || !returned.has(way) || seen.has(way)) return [];
    seen.add(way);
    return fault(
      'result-ends-run',
      at.state,
      way,
      `This result returns to a caller. On the path ${shownPath(at)} there is no caller, and it ends the run.`,
      { remedy: 'If you do not want this, enter the state only by call or function.' },
    );
  });
}

function unreachableStates(
  workflow: Workflow,
  walk: Walk,
  reached: ReadonlySet<StateName>,
): readonly Diagnostic[] {
  const states = statesHere(workflow);
  // A broken state may lead anywhere.
  if (states.some(({ kind }) => kind === 'broken')) return [];
  const beside = new Set([...reached].flatMap((name) => besideOf(workflow, name)));
  const missed = states.filter(({ name }) => !reached.has(name) && !beside.has(name));
  return missed.map((state) => {
    const { name } = state;
    const start = startOf(state);
    return walk.hasOpenWays
      ? fault('perhaps-unreachable', name, start, `No tag names ${stemOf(name)}.`, {
          remedy: 'If no step chooses it at run time, remove the file.',
        })
      : fault(
          'unreachable-state',
          name,
          start,
          `No path leads from ${workflow.entry} to ${name}.`,
          {
            remedy: 'Name it in a tag of a reachable state, or remove the file.',
          },
        );
  });
}

/** The states whose texts are used beside a state: those of its judges and of its handover. */
function besideOf(workflow: Workflow, name: StateName): readonly StateName[] {
  const state = workflow.states.get(name);
  const asking = state && handoverFor(workflow, state);
  const asks = asking === undefined ? [] : [asking];
  if (state?.kind !== 'prompt') return asks;
  const judges = state.policy.evaluators.flatMap((evaluator) => {
    if (evaluator.kind !== 'prompt') return [];
    const resolution = resolveState(workflow, evaluator.state);
    return 'found' in resolution ? resolution.found : [];
  });
  return [...judges, ...asks];
}

/** Only the innermost calls are reported. The calls around them never return for the same reason. */
function callsThatNeverReturn({ activations }: Walk): readonly Diagnostic[] {
  const stuck = new Set(
    [...activations.values()].filter(
      ({ kind, exits, hasFault }) => kind === 'callee' && exits.size === 0 && !hasFault,
    ),
  );
  const innermost = bottoms(stuck, ({ calls }) => [...calls]).flat();
  const callers = new Map(innermost.flatMap((a) => a.callers).map((c) => [c.way, c]));
  return [...callers.values()].map(({ at, way, returns }) =>
    fault(
      'never-returns',
      at.state,
      way,
      `No path from ${way.body?.trim()} leads to a <result>, so this ${way.tag} never reaches ${returns}.`,
      {
        remedy: `Add a <result> to a state on the path, or use goto or reset instead of ${way.tag}.`,
      },
    ),
  );
}

function endlessLoops(workflow: Workflow, walk: Walk): readonly Diagnostic[] {
  const endless = neverStopping([...walk.configurations.values()]);
  const within = (at: Configuration) => [...at.links, ...at.callees].filter((n) => endless.has(n));
  const loops = bottoms(endless, within).filter((loop) => loop.some((at) => within(at).length > 0));
  const seen = new Set<string>();
  return loops.flatMap((loop) => {
    const [first, ...rest] = [...loop].sort((a, b) => a.depth - b.depth);
    if (!first || seen.has(first.state)) return [];
    for (const { state } of loop) seen.add(state);
    const way = walk.waysFrom(first.state).find((candidate) => walk.taken.has(candidate));
    const names = [...new Set([first, ...rest].map(({ state }) => stemOf(state)))];
    return fault(
      'endless-loop',
      first.state,
      way ?? startOf(workflow.states.get(first.state)),
      `${names.join(' → ')} → ${names[0]} never ends: no exit leads to a result, and no limit applies.`,
      { remedy: 'Add a <result> to one of these states, or set max_visits.' },
    );
  });
}

/** Components of a subset that lead to no other component of it. */
function bottoms<T>(
  nodes: ReadonlySet<T>,
  successors: (node: T) => readonly T[],
): readonly (readonly T[])[] {
  const within = (node: T) => successors(node).filter((next) => nodes.has(next));
  return componentsOf(nodes, within).filter((component) => {
    const members = new Set(component);
    return component.every((node) => within(node).every((next) => members.has(next)));
  });
}

/** Configurations from which no path leads to one that may stop. */
function neverStopping(all: readonly Configuration[]): ReadonlySet<Configuration> {
  const before = new Map<Configuration, Configuration[]>();
  for (const at of all) {
    for (const next of at.links) {
      const others = before.get(next);
      if (others) others.push(at);
      else before.set(next, [at]);
    }
  }
  const stops = all.filter(({ mayStop }) => mayStop);
  const mayStop = new Set(stops);
  for (const at of stops) {
    for (const previous of before.get(at) ?? []) {
      if (mayStop.has(previous)) continue;
      mayStop.add(previous);
      stops.push(previous);
    }
  }
  return new Set(all.filter((at) => !mayStop.has(at)));
}

/** A long path is shortened to its first and last states. */
function shownPath(configuration: Configuration): string {
  const { depth, pathStart } = configuration;
  const names: string[] = [];
  let at: Configuration | undefined = configuration;
  for (const most = depth > 8 ? 4 : 8; at && names.length < most; at = at.previous) {
    names.push(stemOf(at.state));
  }
  const last = names.reverse();
  return (depth > 8 ? [...pathStart.map(stemOf), '…', ...last] : last).join(' → ');
}
