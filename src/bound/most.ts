/**
 * The most that an agent can use from a node on, for one measure.
 *
 * A callee is looked at once, whoever calls it: what it uses until its result is part of its caller's
 * step. So the nodes are a graph, and its components are solved in order, from the last to the first. A
 * component without a cycle gives the longest path. In one with cycles, every cycle must pass a limit.
 * Each passage begins a segment that has no further limit in it. So no path in the component uses more
 * than its first segment and, for each limit, as many of its segments as it allows.
 *
 * Limits count the visits of one agent in all of its calls. So a state whose result needs a limited state
 * returns at most as often, and a call of it is a limit, too.
 */
import { componentsOf } from '../graph/components.ts';
import type { Machine, Node } from './machine.ts';

export interface Weights {
  /** What one entry of a node uses, without the agents that it starts. */
  own(node: Node): number;
  /** What each agent that it starts uses by itself. */
  readonly child: number;
}

export interface Loop {
  /** In order; the last one leads to the first. */
  readonly nodes: readonly number[];
  readonly by: 'move' | 'call' | 'fork';
}

export interface Most {
  /** Until the agent is over; `Infinity` without a limit, `-Infinity` if it cannot be entered. */
  readonly total: readonly number[];
  /** Within the component of the node. */
  readonly inside: readonly number[];
  readonly components: readonly (readonly number[])[];
  readonly loops: readonly Loop[];
}

/** With `mostForks`, what agents start is left out, and an agent starts others at most so often. */
export function mostOf(machine: Machine, weights: Weights, mostForks?: number): Most {
  return new Solution(machine, weights, mostForks);
}

const NEVER = -Infinity;

class Solution implements Most {
  readonly total: number[];
  readonly inside: number[];
  readonly loops: Loop[] = [];
  readonly components: readonly (readonly number[])[];
  /** Until the result; `NEVER` if there is none. */
  readonly #back: number[];
  /** How often one agent can come from here to the result. */
  readonly #passes: number[];
  readonly #weight: number[];
  readonly #nodes: readonly Node[];
  readonly #weights: Weights;
  readonly #mostForks: number | undefined;

  constructor({ nodes }: Machine, weights: Weights, mostForks: number | undefined) {
    this.#nodes = nodes;
    this.#weights = weights;
    this.#mostForks = mostForks;
    this.total = nodes.map(() => NEVER);
    this.inside = nodes.map(() => 0);
    this.#back = nodes.map(() => NEVER);
    this.#passes = nodes.map(() => 0);
    this.#weight = nodes.map(() => 0);
    this.components = componentsOf(nodes.keys(), (at) => this.#leadsTo(at));
    for (const members of this.components) this.#solve(members);
  }

  #node(at: number): Node {
    const node = this.#nodes[at];
    if (!node) throw new Error('Bug: a node that does not exist');
    return node;
  }

  #leadsTo(at: number): readonly number[] {
    const { next, callee } = this.#node(at);
    return [...next, ...(callee === undefined ? [] : [callee]), ...this.#children(at)];
  }

  #children(at: number): readonly number[] {
    if (this.#mostForks !== undefined) return [];
    return this.#node(at).forks.flatMap(({ to }) => to);
  }

  #solve(members: readonly number[]): void {
    const here = new Set(members);
    if (members.some((at) => this.#children(at).some((child) => here.has(child)))) {
      this.#solveForks(here);
      return;
    }
    for (const at of members) this.#weight[at] = this.#weigh(at);
    // What cannot be passed does not make a cycle.
    const closed = members.filter((at) => this.#limit(at, here) <= 0);
    for (const at of closed) {
      here.delete(at);
      const { callee } = this.#node(at);
      if (callee !== undefined)
        this.total[at] = plus(get(this.#weight, at), get(this.total, callee));
    }
    const parts =
      closed.length === 0
        ? [members]
        : componentsOf(here, (at) => this.#leadsTo(at).filter((to) => here.has(to)));
    for (const part of parts) this.#solvePart(new Set(part));
  }

  #solvePart(here: ReadonlySet<number>): void {
    const [only = 0, ...more] = here;
    if (more.length === 0 && !this.#leadsTo(only).includes(only)) this.#solveOne(only);
    else if ([...here].some((at) => has(here, this.#node(at).callee))) this.#solveRecursion(here);
    else this.#solveCycles(here);
  }

  #weigh(at: number): number {
    const node = this.#node(at);
    let weight = this.#weights.own(node);
    if (this.#mostForks !== undefined) return weight;
    for (const { to, most } of node.forks) {
      const each = Math.max(...to.map((child) => this.#weights.child + get(this.total, child)));
      weight += times(most, Math.max(0, each));
    }
    return weight;
  }

  #limit(at: number, here: ReadonlySet<number>): number {
    const { most, callee, forks } = this.#node(at);
    const returns = callee === undefined || here.has(callee) ? Infinity : get(this.#passes, callee);
    const starts = forks.length === 0 ? Infinity : (this.#mostForks ?? Infinity);
    return Math.min(most, returns, starts);
  }

  /** What a node uses before its agent goes on. */
  #through(at: number): number {
    const { callee } = this.#node(at);
    return callee === undefined
      ? get(this.#weight, at)
      : plus(get(this.#weight, at), get(this.#back, callee));
  }

  #solveOne(at: number): void {
    const { next, returns } = this.#node(at);
    const through = this.#through(at);
    const after = Math.max(0, ...next.map((to) => get(this.total, to)));
    const back = Math.max(returns ? 0 : NEVER, ...next.map((to) => get(this.#back, to)));
    this.total[at] = Math.max(this.#within(at), plus(through, after));
    this.#back[at] = plus(through, back);
    this.inside[at] = Math.max(get(this.#weight, at), through);
    this.#passes[at] = Math.min(this.#limit(at, NOBODY), this.#exits(at, NOBODY));
  }

  /** How often an agent can leave from here towards the result. */
  #exits(at: number, here: ReadonlySet<number>): number {
    const { next, returns } = this.#node(at);
    return next.reduce(
      (sum, to) => (here.has(to) ? sum : sum + get(this.#passes, to)),
      returns ? Infinity : 0,
    );
  }

  #solveCycles(here: ReadonlySet<number>): void {
    const limited = [...here].filter((at) => this.#limit(at, here) < Infinity);
    const loop = this.#unlimitedLoop(here, new Set(limited));
    if (loop) this.loops.push({ nodes: loop, by: 'move' });
    const isEndless = loop || [...here].some((at) => this.#through(at) === Infinity);
    const cut = isEndless ? undefined : this.#chosenCut(here, limited);
    const ends = {
      total: (at: number) =>
        Math.max(0, this.#outside(this.total, at, here), this.#stuck(at, here)),
      inside: () => 0,
      back: (at: number) =>
        Math.max(this.#node(at).returns ? 0 : NEVER, this.#outside(this.#back, at, here)),
    };
    const passing = [...here].reduce(
      (sum, at) => sum + Math.min(this.#limit(at, here), this.#exits(at, here)),
      0,
    );
    const solved = {
      total: cut?.most(ends.total, (at) => this.#within(at)),
      inside: cut?.most(ends.inside),
      back: cut?.most(ends.back),
    };
    const returns = [...here].some((at) => ends.back(at) > NEVER);
    for (const at of here) {
      this.total[at] = solved.total?.(at) ?? Infinity;
      this.inside[at] = solved.inside?.(at) ?? Infinity;
      this.#back[at] = solved.back?.(at) ?? (returns ? Infinity : NEVER);
      this.#passes[at] = Math.min(this.#limit(at, here), passing);
    }
  }

  #outside(values: readonly number[], at: number, here: ReadonlySet<number>): number {
    const { next } = this.#node(at);
    return Math.max(NEVER, ...next.map((to) => (here.has(to) ? NEVER : get(values, to))));
  }

  /** What an agent uses that does not return from the call. */
  #within(at: number): number {
    const { callee } = this.#node(at);
    return callee === undefined ? NEVER : plus(get(this.#weight, at), get(this.total, callee));
  }

  /**
   * A call from here that does not return, in addition to those that do. If the callee itself may be entered
   * so often only, it is one of them.
   */
  #stuck(at: number, here: ReadonlySet<number>): number {
    const calls = this.#node(at).next.map((to) => {
      const { callee } = this.#node(to);
      if (callee === undefined || !here.has(to) || here.has(callee)) return NEVER;
      const isOneOfThem = this.#node(callee).most <= get(this.#passes, callee);
      return isOneOfThem ? NEVER : this.#within(to);
    });
    return Math.max(NEVER, ...calls);
  }

  /** A cycle that uses something and passes no limit. */
  #unlimitedLoop(
    here: ReadonlySet<number>,
    limited: ReadonlySet<number>,
  ): readonly number[] | undefined {
    const isFree = (to: number) => here.has(to) && !limited.has(to);
    const free = (at: number) => this.#leadsTo(at).filter(isFree);
    const rest = [...here].filter((at) => !limited.has(at));
    for (const part of componentsOf(rest, free)) {
      const used = part.find((at) => this.#through(at) > 0 || get(this.#weight, at) > 0);
      const loop = used === undefined ? undefined : this.#shortestLoop(used, new Set(part));
      if (loop) return loop;
    }
    return undefined;
  }

  /** From a node back to itself; undefined if there is no way. */
  #shortestLoop(from: number, part: ReadonlySet<number>): readonly number[] | undefined {
    const before = new Map<number, number>();
    const queue = [from];
    // The queue grows during this loop.
    for (const at of queue) {
      for (const to of this.#leadsTo(at)) {
        if (!part.has(to) || before.has(to)) continue;
        before.set(to, at);
        if (to !== from) queue.push(to);
      }
    }
    let at = before.get(from);
    if (at === undefined) return undefined;
    const loop: number[] = [];
    for (; at !== from && at !== undefined; at = before.get(at)) loop.push(at);
    return [from, ...loop.reverse()];
  }

  /**
   * The limits that begin segments. Not every limit has to: one that another limit makes needless would
   * count its own segments in addition. The highest are tried first.
   */
  #chosenCut(here: ReadonlySet<number>, limited: readonly number[]): Segments {
    let cut = new Segments(this.#parts(here), new Set(limited));
    const highest = limited.toSorted((a, b) => this.#limit(b, here) - this.#limit(a, here));
    for (const at of highest.slice(0, MOST_TRIED)) {
      const fewer = new Set(cut.limited);
      fewer.delete(at);
      if (fewer.size === 0 || this.#unlimitedLoop(here, fewer)) continue;
      const tried = new Segments(this.#parts(here), fewer);
      if (tried.most(() => 0)(at) < cut.most(() => 0)(at)) cut = tried;
    }
    return cut;
  }

  #parts(here: ReadonlySet<number>): Parts {
    return {
      here,
      next: (at) => this.#node(at).next.filter((to) => here.has(to)),
      uses: (at) => this.#through(at),
      limit: (at) => this.#limit(at, here),
    };
  }

  /** Calls lead back to their callers. Each segment is a tree: what is called, and what follows. */
  #solveRecursion(here: ReadonlySet<number>): void {
    const limited = new Set([...here].filter((at) => this.#limit(at, here) < Infinity));
    const returns = [...here].some(
      (at) => this.#node(at).returns || this.#outside(this.#back, at, here) > NEVER,
    );
    const ends = [...here].map((at) => this.#outside(this.#back, at, here));
    const isFree = [...here].every((at) => get(this.#weight, at) === 0) && Math.max(...ends) <= 0;
    const loop = isFree ? undefined : this.#recursiveLoop(here, limited);
    if (loop) this.loops.push({ nodes: loop, by: 'call' });
    const trees = loop || isFree ? new Map<number, number>() : this.#trees(here, limited);
    // The last path may not return: it uses more than the one that its tree has.
    const last = Math.max(
      0,
      ...[...here].flatMap((at) => [this.#stuck(at, here), ...this.#beyond(at, here)]),
    );
    let all = 0;
    for (const at of limited) all += times(this.#limit(at, here), trees.get(at) ?? 0);
    for (const at of here) {
      const first = limited.has(at) ? 0 : (trees.get(at) ?? 0);
      const used = loop ? Infinity : first + all;
      this.total[at] = used + last;
      this.inside[at] = used;
      this.#back[at] = returns ? used : NEVER;
      this.#passes[at] = returns ? this.#limit(at, here) : 0;
    }
  }

  /** Anything that repeats without a limit, even if this measure does not see it. */
  #recursiveLoop(
    here: ReadonlySet<number>,
    limited: ReadonlySet<number>,
  ): readonly number[] | undefined {
    const rest = [...here].filter((at) => !limited.has(at));
    const free = (at: number) => this.#leadsTo(at).filter((to) => here.has(to) && !limited.has(to));
    for (const part of componentsOf(rest, free)) {
      const [first = 0] = part;
      const loop = this.#shortestLoop(first, new Set(part));
      if (loop) return loop;
    }
    return undefined;
  }

  #beyond(at: number, here: ReadonlySet<number>): readonly number[] {
    const { next, callee } = this.#node(at);
    return [...next, ...(callee === undefined ? [] : [callee])].flatMap((to) => {
      const total = get(this.total, to);
      if (here.has(to) || total === NEVER) return [];
      return total === Infinity ? total : total - Math.max(0, get(this.#back, to));
    });
  }

  #trees(here: ReadonlySet<number>, limited: ReadonlySet<number>): ReadonlyMap<number, number> {
    const trees = new Map<number, number>();
    const part = (to: number) => {
      if (!here.has(to)) return Math.max(0, get(this.#back, to));
      return limited.has(to) ? 0 : (trees.get(to) ?? 0);
    };
    const grow = (at: number) => {
      const { next, callee } = this.#node(at);
      const called = callee === undefined ? 0 : part(callee);
      trees.set(at, get(this.#weight, at) + called + Math.max(0, ...next.map(part)));
    };
    const rest = [...here].filter((at) => !limited.has(at));
    const free = (at: number) => this.#leadsTo(at).filter((to) => here.has(to) && !limited.has(to));
    for (const [only] of componentsOf(rest, free)) if (only !== undefined) grow(only);
    for (const at of limited) grow(at);
    return trees;
  }

  /** An agent starts others that can start it again: as many as `--max-agents` allows. */
  #solveForks(here: ReadonlySet<number>): void {
    const isFree =
      this.#weights.child === 0 &&
      [...here].every((at) => {
        const beyond = this.#leadsTo(at).filter((to) => !here.has(to));
        const after = beyond.map((to) => get(this.total, to));
        return this.#weights.own(this.#node(at)) === 0 && Math.max(0, ...after) === 0;
      });
    const forking = [...here].find((at) => this.#children(at).some((child) => here.has(child)));
    const loop = forking === undefined ? undefined : this.#shortestLoop(forking, here);
    if (!isFree && loop) this.loops.push({ nodes: loop, by: 'fork' });
    for (const at of here) {
      this.total[at] = isFree ? 0 : Infinity;
      this.inside[at] = this.total[at] ?? 0;
      this.#back[at] = this.total[at] ?? 0;
      this.#passes[at] = Infinity;
    }
  }
}

interface Parts {
  readonly here: ReadonlySet<number>;
  next(at: number): readonly number[];
  uses(at: number): number;
  limit(at: number): number;
}

/** The segments of a component with cycles, each of which begins at a limit. */
class Segments {
  readonly limited: ReadonlySet<number>;
  readonly #parts: Parts;
  readonly #order: readonly (readonly number[])[];
  /** The most until the next limit. */
  readonly #segment: (at: number) => number;
  readonly #all: number;

  constructor(parts: Parts, limited: ReadonlySet<number>) {
    this.limited = limited;
    this.#parts = parts;
    const rest = [...parts.here].filter((at) => !limited.has(at));
    this.#order = componentsOf(rest, (at) => parts.next(at).filter((to) => !limited.has(to)));
    this.#segment = this.#longest((at) =>
      parts.next(at).some((to) => limited.has(to)) ? 0 : NEVER,
    );
    let all = 0;
    for (const at of limited) all += times(parts.limit(at), Math.max(0, this.#segment(at)));
    this.#all = all;
  }

  /**
   * The most from each node on. `end` says what follows where a path leaves or ends, and `within` what a node
   * uses if the path ends in it.
   */
  most(
    end: (at: number) => number,
    within: (at: number) => number = () => NEVER,
  ): (at: number) => number {
    const last = this.#longest(end, within);
    let best = NEVER;
    for (const at of this.limited)
      best = Math.max(best, plus(last(at), -Math.max(0, this.#segment(at))));
    return (at) => {
      const first = this.limited.has(at) ? 0 : this.#segment(at);
      return Math.max(this.limited.has(at) ? NEVER : last(at), plus(plus(first, this.#all), best));
    };
  }

  /** The longest path without a further limit. The members of a cycle that uses nothing share it. */
  #longest(
    end: (at: number) => number,
    within: (at: number) => number = () => NEVER,
  ): (at: number) => number {
    const { next, uses } = this.#parts;
    const known = new Map<number, number>();
    const after = (at: number) =>
      Math.max(
        end(at),
        ...next(at).map((to) => (this.limited.has(to) ? NEVER : (known.get(to) ?? NEVER))),
      );
    for (const group of this.#order) {
      const value = Math.max(
        NEVER,
        ...group.map((at) => Math.max(within(at), plus(uses(at), after(at)))),
      );
      for (const at of group) known.set(at, value);
    }
    for (const at of this.limited) known.set(at, Math.max(within(at), plus(uses(at), after(at))));
    return (at) => known.get(at) ?? NEVER;
  }
}

/** Each one takes a walk through its component. */
const MOST_TRIED = 16;

const NOBODY: ReadonlySet<number> = new Set();

const has = (here: ReadonlySet<number>, at: number | undefined) => at !== undefined && here.has(at);
const get = (values: readonly number[], at: number) => values[at] ?? NEVER;

/** What cannot happen stays impossible, whatever follows. */
const plus = (a: number, b: number) => (a === NEVER || b === NEVER ? NEVER : a + b);
const times = (a: number, b: number) => (a === 0 || b === 0 ? 0 : a * b);
