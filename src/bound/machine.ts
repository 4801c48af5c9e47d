/**
 * A workflow, and those that it enters, as nodes with what each of them can use. A node is a state, a
 * limit that an agent passes, or a move that starts other agents or calls a state.
 */
import { withoutComments } from '../graph/script-text.ts';
import { isOpen, type ReferencePart, type Way, waysOf } from '../graph/ways.ts';
import { MOST_FORKS } from '../interpret/ceilings.ts';
import type { StateName } from '../model/state-name.ts';
import type { Evaluator, ScriptState, State, Workflow } from '../model/workflow.ts';
import { limitsOf } from '../parse/limits.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { type Turns, turnsOf } from './turns.ts';

export interface Place {
  readonly workflow: string;
  readonly state: StateName;
  /** The name for a reader. That of a state of another workflow has its name before it. */
  readonly label: string;
}

export interface Node {
  /** Only for a state itself. */
  readonly place: Place | undefined;
  /** The prompts of one entry. */
  readonly turns: readonly Turns[];
  /** How often one agent can be here. */
  readonly most: number;
  /** Where the same agent can continue. */
  readonly next: number[];
  /** It can give a result. */
  returns: boolean;
  /** It calls this first, and continues when it has returned. */
  readonly callee: number | undefined;
  /** The agents that it starts: each group as many as it has, in any of its places. */
  readonly forks: readonly ForkGroup[];
}

export interface ForkGroup {
  readonly to: readonly number[];
  readonly most: number;
}

/** Something that the text of a workflow does not say, so that no bound can be given. */
export interface Unknown extends Place {
  readonly kind: 'target' | 'workflow';
  /** The path of a workflow that cannot be read. */
  readonly path?: string;
}

export interface Machine {
  readonly nodes: readonly Node[];
  readonly entry: number;
  readonly unknown: readonly Unknown[];
  /** States that start as many agents as they like. Each answer has at most `MOST_FORKS`. */
  readonly forking: readonly Place[];
  /** Prompts without a policy: the text says what they write, but nothing holds them to it. */
  readonly free: readonly Place[];
  /** States that ask a person and set no deadline. */
  readonly asking: readonly Place[];
}

/** Finds the workflow that a path in a tag names; undefined if it cannot be read. */
export type Others = (path: string, from: string) => Workflow | undefined;

/**
 * With `someLimits`, an evaluator `cost` and a question without a deadline are limits: they hold a loop up,
 * although nobody knows how often it repeats.
 */
export function machineOf(
  workflow: Workflow,
  others: Others = () => undefined,
  { someLimits = false } = {},
): Machine {
  return new Builder(workflow, others, someLimits).build();
}

class Builder {
  readonly #nodes: Node[] = [];
  readonly #known = new Map<string, number>();
  readonly #open: { readonly at: number; readonly workflow: Workflow; readonly state: State }[] =
    [];
  readonly #unknown: Unknown[] = [];
  readonly #forking: Place[] = [];
  readonly #free: Place[] = [];
  readonly #asking: Place[] = [];
  readonly #someLimits: boolean;
  readonly #root: Workflow;
  readonly #others: Others;

  constructor(root: Workflow, others: Others, someLimits: boolean) {
    this.#someLimits = someLimits;
    this.#root = root;
    this.#others = others;
  }

  build(): Machine {
    const entry = this.#enter(this.#root, this.#root.entry);
    // The list grows during this loop.
    for (const { at, workflow, state } of this.#open) this.#leave(at, workflow, state);
    return {
      ...{ nodes: this.#nodes, entry, unknown: this.#unknown },
      ...{ forking: this.#forking, free: this.#free, asking: this.#asking },
    };
  }

  #enter(workflow: Workflow, name: StateName): number {
    const key = JSON.stringify([workflow.ref, name]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const state = workflow.states.get(name);
    const { maxVisits = Infinity } = limitsOf(state);
    const at = this.#add({
      place: this.#placeOf(workflow, name),
      turns: state ? turnsOf(workflow, state) : [],
      most: maxVisits,
    });
    this.#known.set(key, at);
    if (state) this.#open.push({ at, workflow, state });
    return at;
  }

  #placeOf(workflow: Workflow, state: StateName): Place {
    const label = workflow.ref === this.#root.ref ? state : `${workflow.name}/${state}`;
    return { workflow: workflow.ref, state, label };
  }

  #add(node: Partial<Node>): number {
    this.#nodes.push({
      ...{ place: undefined, turns: [], most: Infinity },
      ...{ next: [], returns: false, callee: undefined, forks: [] },
      ...node,
    });
    return this.#nodes.length - 1;
  }

  #node(at: number): Node {
    const node = this.#nodes[at];
    if (!node) throw new Error('Bug: a node that does not exist');
    return node;
  }

  #leave(state: number, workflow: Workflow, of: State): void {
    const from = { workflow, place: this.#placeOf(workflow, of.name) };
    const ways = waysOf(workflow, of);
    const own = ways.filter(({ origin }) => origin !== 'evaluator' && origin !== 'ensures');
    const fired = ways.filter(({ origin }) => origin === 'evaluator');
    let at = state;
    if (of.kind === 'prompt') {
      if (!of.policy.allowed) this.#free.push(from.place);
      for (const [index, evaluator] of of.policy.evaluators.entries()) {
        const way = fired[index];
        if (way) this.#connectAll(at, [way], from, () => 1);
        const passes = this.#passesOf(evaluator);
        if (passes === undefined) continue;
        // Once it fires at each visit, no later way is taken any more.
        const gate = this.#add({ most: passes });
        this.#node(at).next.push(gate);
        at = gate;
      }
    }
    const unmet = ways.filter(({ origin }) => origin === 'ensures');
    for (const way of unmet) this.#connectAll(at, [way], from, () => 1);
    const isOne =
      of.kind === 'prompt'
        ? of.policy.forceImplicit && own.length === 1
        : of.kind === 'script' && printsEachOnce(of, own);
    this.#connectAll(at, own, from, (forks) => (isOne ? forks : undefined));
  }

  #passesOf(evaluator: Evaluator): number | undefined {
    if (evaluator.kind === 'visits') return evaluator.count - 1;
    return this.#someLimits && evaluator.kind === 'cost' ? MANY : undefined;
  }

  /** `counted` says how many agents these forks start; undefined: as many as the step likes. */
  #connectAll(
    at: number,
    ways: readonly Way[],
    from: From,
    counted: (forks: number) => number | undefined,
  ): void {
    for (const way of ways) if (!isFork(way)) this.#connect(at, way, from);
    const beside = ways.filter(({ tag }) => tag === 'goto' || tag === 'join');
    for (const forks of forksTogether(ways.filter(isFork))) {
      const children = forks.flatMap((way) => this.#childOf(way, from) ?? []);
      const next = [...forks, ...(forks.some(hasNext) ? [] : beside)].flatMap((way) =>
        this.#statesOf(way, from, isFork(way) ? ['next'] : ON),
      );
      if (children.length === 0 || next.length === 0) continue;
      const isCounted = counted(forks.length) !== undefined;
      if (!isCounted) this.#forking.push(from.place);
      const groups = isCounted
        ? children.map((child) => ({ to: [child], most: 1 }))
        : [{ to: [...new Set(children)], most: MOST_FORKS }];
      this.#node(at).next.push(this.#add({ forks: groups, next }));
    }
  }

  #connect(at: number, way: Way, from: From): void {
    if (way.references.some(({ kind }) => kind === 'problem')) return;
    if (isOpen(way)) this.#openTarget(way, from);
    switch (TAG_RULES[way.tag].body) {
      case 'payload':
        this.#node(at).returns = true;
        return;
      case 'question':
        if (way.attributes.timeout !== undefined) break;
        this.#asking.push(from.place);
        if (!this.#someLimits) break;
        this.#node(at).next.push(this.#add({ most: MANY, next: this.#statesOf(way, from, ON) }));
        return;
      case 'path':
        this.#elsewhere(at, way, from);
        return;
      case 'target':
        if (!way.references.some(({ part }) => part === 'return')) break;
        this.#call(at, way, from);
        return;
    }
    this.#node(at).next.push(...this.#statesOf(way, from, ON));
  }

  #call(at: number, way: Way, from: From): void {
    const [callee] = this.#statesOf(way, from, ['target']);
    const next = this.#statesOf(way, from, ['return']);
    if (callee === undefined) this.#node(at).next.push(...next);
    else this.#node(at).next.push(this.#add({ callee, next }));
  }

  #elsewhere(at: number, way: Way, from: From): void {
    const callee = this.#entryOf(way, from);
    if (callee === undefined) return;
    const next = this.#statesOf(way, from, ['return']);
    this.#node(at).next.push(way.tag === 'reset-workflow' ? callee : this.#add({ callee, next }));
  }

  #childOf(way: Way, from: From): number | undefined {
    if (way.references.some(({ kind }) => kind === 'problem')) return undefined;
    if (isOpen(way)) this.#openTarget(way, from);
    if (way.tag === 'fork-workflow') return this.#entryOf(way, from);
    return this.#statesOf(way, from, ['target'])[0];
  }

  #entryOf({ body }: Way, { workflow, place }: From): number | undefined {
    const path = body?.trim();
    const other = path === undefined ? undefined : this.#others(path, workflow.ref);
    if (other) return this.#enter(other, other.entry);
    this.#unknown.push({ kind: 'workflow', ...place, ...(path !== undefined && { path }) });
    return undefined;
  }

  /** What a prompt without a policy writes is never certain, and its text is all that there is. */
  #openTarget({ origin }: Way, { workflow, place }: From): void {
    if (origin === 'prompt') return;
    this.#unknown.push({ kind: 'target', ...place });
    for (const name of workflow.states.keys()) this.#enter(workflow, name);
  }

  #statesOf({ references }: Way, { workflow }: From, parts: readonly ReferencePart[]): number[] {
    return references.flatMap((reference) =>
      reference.kind === 'state' && parts.includes(reference.part)
        ? [this.#enter(workflow, reference.state)]
        : [],
    );
  }
}

interface From {
  readonly workflow: Workflow;
  readonly place: Place;
}

/** The parts of a tag at which the same agent continues, if it calls nothing. */
const ON: readonly ReferencePart[] = ['target', 'next', 'timeout_next', 'failed_next'];

/** A limit that nobody knows. */
const MANY = Number.MAX_SAFE_INTEGER;

const isFork = ({ tag }: Way) => tag === 'fork' || tag === 'fork-workflow';

const hasNext = ({ attributes }: Way) => attributes.next !== undefined;

/** The forks that one answer can have: under a policy, those that lead to the same state. */
function forksTogether(forks: readonly Way[]): readonly (readonly Way[])[] {
  const groups = new Map<string, Way[]>();
  for (const way of forks) {
    const key = way.entry ? JSON.stringify(way.attributes.next ?? null) : '';
    const group = groups.get(key);
    if (group) group.push(way);
    else groups.set(key, [way]);
  }
  return [...groups.values()];
}

/** Whether each fork in the text of a script is printed once at most: by an echo outside of loops. */
function printsEachOnce(script: ScriptState, ways: readonly Way[]): boolean {
  const text = withoutComments(script);
  if (REPEATS.test(text)) return false;
  const lines = text.split('\n');
  return ways.filter(isFork).every(({ line }) => {
    const written = lines[line - script.place.line];
    return written !== undefined && PRINTS.test(written);
  });
}

const REPEATS =
  /\b(?:for|foreach|while|until|do|function|xargs|parallel|seq|eval|source|trap|goto)\b|\(\)|\bForEach-Object\b/i;
const PRINTS = /^\s*(?:(?:if|then|else|\w+\s+\S*\s*(?:&&|\|\|))\s*)?@?echo\b[^|]*$/i;
