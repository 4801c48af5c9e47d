/**
 * Follows everything that a workflow can do. The next step of an agent depends on its state, on
 * whether a caller waits for its result, and on the visits that `max_visits` counts. It does not
 * depend on which caller waits. So a callee is walked once, regardless of the number of callers and
 * the depth of the stack. Each caller continues once the callee is known to return. The work is
 * bounded by states times callees, and recursion needs no bound.
 */

import type { Way } from '../graph/ways.ts';
import type { Failure } from '../model/failure.ts';
import type { StateName } from '../model/state-name.ts';
import { unreachable } from '../model/unreachable.ts';
import type { State, Workflow } from '../model/workflow.ts';
import { limitsOf } from '../parse/limits.ts';
import { type Choice, choicesOf, playable } from './choices.ts';
import { type AgentPosition, type Effect, takeChoice } from './take-choice.ts';

export interface WalkLimits {
  /** Steps from the entry. */
  readonly maxDepth: number;
  readonly maxConfigurations: number;
  /** Choices that are taken, in all configurations together. */
  readonly maxChoices: number;
}

/** An agent at a state of the workflow, with everything that affects its next steps. */
export interface Configuration extends AgentPosition {
  /** How often each counted state was entered. */
  readonly visits: Visits;
  readonly activation: Activation;
  readonly depth: number;
  readonly previous: Configuration | undefined;
  /** The first few states of the path to it. */
  readonly pathStart: readonly StateName[];
  /** The configurations that can follow in the same activation. */
  readonly links: Set<Configuration>;
  readonly callees: Set<Configuration>;
  /** It can end, return, fail, reach a limit, or do something that cannot be foreseen. */
  mayStop: boolean;
}

type Visits = ReadonlyMap<StateName, number>;

/** Everything that an agent does between a call and its result. */
interface Activation {
  readonly key: string;
  readonly kind: 'main' | 'child' | 'callee';
  readonly callers: {
    readonly at: Configuration;
    readonly way: Way;
    readonly returns: StateName;
  }[];
  /** The counted visits that it can return with. */
  readonly exits: Map<string, Visits>;
  hasFault: boolean;
  readonly calls: Set<Activation>;
}

interface Fault {
  readonly at: Configuration;
  readonly way: Way;
  readonly failure: Failure;
}

export class Walk {
  readonly configurations = new Map<string, Configuration>();
  readonly activations = new Map<string, Activation>();
  readonly taken = new Set<Way>();
  readonly faults: Fault[] = [];
  /** Ways that name a missing or ambiguous state. No step can take them. */
  readonly unresolved: { readonly at: Configuration; readonly way: Way }[] = [];
  readonly results: { readonly at: Configuration; readonly way: Way }[] = [];
  /** States without a known way out. */
  readonly deadEnds = new Set<Configuration>();
  /** Whether a target is chosen at run time. Then any state may be entered. */
  hasOpenWays = false;
  boundHit = false;
  readonly #choices: ReadonlyMap<StateName, readonly Choice[]>;
  readonly #limits: WalkLimits;
  readonly #workflow: Workflow;
  /** Those of the workflow. While a choice is taken, its state is the playable one. */
  readonly #states: Map<StateName, State>;
  readonly #maxVisits: ReadonlyMap<StateName, number>;
  readonly #queue: Configuration[] = [];
  readonly #effects = {
    called: new Map<Choice, readonly Effect[]>(),
    free: new Map<Choice, readonly Effect[]>(),
  };
  #taken = 0;

  constructor(workflow: Workflow, limits: WalkLimits) {
    this.#workflow = workflow;
    this.#states = new Map(workflow.states);
    this.#limits = limits;
    this.#choices = choicesOf(workflow);
    this.#maxVisits = maxVisitsOf(workflow);
    this.#enter(this.#activation('main', 'main'), workflow.entry, new Map(), undefined);
    // The queue grows during this loop.
    for (const configuration of this.#queue) {
      this.#expand(configuration);
      if (this.#taken > limits.maxChoices) break;
    }
    this.boundHit ||= this.#taken > limits.maxChoices;
  }

  waysFrom(state: StateName): readonly Way[] {
    return (this.#choices.get(state) ?? []).map(({ way }) => way);
  }

  #expand(at: Configuration): void {
    const choices = this.#choices.get(at.state) ?? [];
    const state = this.#workflow.states.get(at.state);
    if (limitsOf(state).maxVisits !== undefined) at.mayStop = true;
    if (choices.length === 0) {
      this.deadEnds.add(at);
      this.#unforeseeable(at);
    }
    for (const choice of choices) {
      if (!choice.tags) {
        this.hasOpenWays = true;
        this.#unforeseeable(at);
        this.#enterKnown(at, choice.way);
        continue;
      }
      if (choice.way.references.some(({ kind }) => kind === 'problem')) {
        at.mayStop = true;
        at.activation.hasFault = true;
        this.unresolved.push({ at, way: choice.way });
        continue;
      }
      for (const effect of this.#effectsOf(at, choice)) this.#follow(at, choice.way, effect);
    }
    this.#taken += choices.length;
  }

  /** The outcome of a step depends only on the choice and on whether a caller waits. */
  #effectsOf(at: Configuration, choice: Choice): readonly Effect[] {
    const known = this.#effects[at.isCalled ? 'called' : 'free'];
    const effects = known.get(choice) ?? this.#play(at, choice);
    known.set(choice, effects);
    return effects;
  }

  #play(at: Configuration, choice: Choice): readonly Effect[] {
    const state = this.#workflow.states.get(at.state);
    if (state) this.#states.set(at.state, playable(state, choice));
    const effects = takeChoice({ ...this.#workflow, states: this.#states }, at, choice);
    if (state) this.#states.set(at.state, state);
    return effects;
  }

  #unforeseeable(at: Configuration): void {
    at.mayStop = true;
    if (at.isCalled) this.#exit(at);
  }

  /** A tag that leaves one state open still names the other states. */
  #enterKnown(at: Configuration, { tag, references }: Way): void {
    for (const reference of references) {
      if (reference.kind !== 'state') continue;
      if (reference.part !== 'target') this.#link(at, reference.state, at.visits);
      else if (tag === 'fork') this.#startChild(at, reference.state);
      else this.#enter(this.#calleeOf(at, reference.state), reference.state, at.visits, at);
    }
  }

  #follow(at: Configuration, way: Way, effect: Effect): void {
    if (effect.kind !== 'failure') this.taken.add(way);
    switch (effect.kind) {
      case 'enter':
        this.#link(at, effect.state, at.visits);
        return;
      case 'detour':
        this.#link(at, effect.returns, at.visits);
        return;
      case 'call':
        this.#call(at, way, effect);
        return;
      case 'child':
        this.#startChild(at, effect.state);
        return;
      case 'result':
        at.mayStop = true;
        this.results.push({ at, way });
        if (at.isCalled) this.#exit(at);
        return;
      case 'leave':
        at.mayStop = true;
        return;
      case 'failure':
        at.mayStop = true;
        at.activation.hasFault = true;
        this.faults.push({ at, way, failure: effect.failure });
        return;
      default:
        unreachable(effect);
    }
  }

  #call(at: Configuration, way: Way, effect: Extract<Effect, { kind: 'call' }>): void {
    const activation = this.#calleeOf(at, effect.state);
    const callee = this.#enter(activation, effect.state, at.visits, at);
    if (!callee) return;
    at.callees.add(callee);
    at.activation.calls.add(activation);
    const caller = { at, way, returns: effect.returns };
    activation.callers.push(caller);
    for (const visits of activation.exits.values()) this.#link(at, caller.returns, visits);
  }

  #calleeOf({ visits }: Configuration, state: StateName): Activation {
    return this.#activation('callee', `call ${state} ${visitsKey(visits)}`);
  }

  #startChild(parent: Configuration, state: StateName): void {
    this.#enter(this.#activation('child', 'child'), state, new Map(), parent);
  }

  #exit({ activation, visits }: Configuration): void {
    const key = visitsKey(visits);
    if (activation.exits.has(key)) return;
    activation.exits.set(key, visits);
    for (const { at, returns } of activation.callers) this.#link(at, returns, visits);
  }

  #link(from: Configuration, state: StateName, visits: Visits): void {
    const to = this.#enter(from.activation, state, visits, from);
    if (to) from.links.add(to);
  }

  #enter(
    activation: Activation,
    state: StateName,
    visitsBefore: Visits,
    previous: Configuration | undefined,
  ): Configuration | undefined {
    const max = this.#maxVisits.get(state);
    if (max !== undefined && (visitsBefore.get(state) ?? 0) >= max) {
      if (previous) previous.mayStop = true;
      return undefined;
    }
    const visits = this.#maxVisits.has(state)
      ? new Map(visitsBefore).set(state, (visitsBefore.get(state) ?? 0) + 1)
      : visitsBefore;
    const key = JSON.stringify([activation.key, state, visitsKey(visits)]);
    const known = this.configurations.get(key);
    if (known) return known;
    const depth = previous ? previous.depth + 1 : 1;
    const { maxDepth, maxConfigurations } = this.#limits;
    if (depth > maxDepth || this.configurations.size >= maxConfigurations) {
      this.boundHit = true;
      return undefined;
    }
    const configuration: Configuration = {
      state,
      visits,
      activation,
      isCalled: activation.kind === 'callee',
      depth,
      previous,
      pathStart:
        depth <= SHOWN_START
          ? [...(previous?.pathStart ?? []), state]
          : (previous?.pathStart ?? []),
      links: new Set(),
      callees: new Set(),
      mayStop: false,
    };
    this.configurations.set(key, configuration);
    this.#queue.push(configuration);
    return configuration;
  }

  #activation(kind: Activation['kind'], key: string): Activation {
    const known = this.activations.get(key);
    if (known) return known;
    const activation: Activation = {
      key,
      kind,
      callers: [],
      exits: new Map(),
      hasFault: false,
      calls: new Set(),
    };
    this.activations.set(key, activation);
    return activation;
  }
}

/** The number of states shown at the start of a path. */
const SHOWN_START = 3;

/** The most states whose visits are counted. Each one multiplies the number of situations. */
const MOST_COUNTED_STATES = 8;

/** A higher limit is not counted. Any visit may then be the last one. */
const MOST_COUNTED = 3;

function maxVisitsOf(workflow: Workflow): ReadonlyMap<StateName, number> {
  const counted = new Map<StateName, number>();
  for (const state of workflow.states.values()) {
    const max = limitsOf(state).maxVisits;
    if (counted.size === MOST_COUNTED_STATES) break;
    if (max !== undefined && max <= MOST_COUNTED) counted.set(state.name, max);
  }
  return counted;
}

function visitsKey(visits: Visits): string {
  return [...visits]
    .map(([state, count]) => `${state}*${count}`)
    .sort()
    .join(' ');
}
