import type { StateName } from '../model/state-name.ts';
import type { State, Workflow } from '../model/workflow.ts';

/** A workflow in which one state is replaced. Nothing is copied. */
export function withState(workflow: Workflow, state: State): Workflow {
  return { ...workflow, states: new StatesWith(workflow.states, state) };
}

class StatesWith implements ReadonlyMap<StateName, State> {
  readonly #states: ReadonlyMap<StateName, State>;
  readonly #state: State;

  constructor(states: ReadonlyMap<StateName, State>, state: State) {
    this.#states = states;
    this.#state = state;
  }

  get size(): number {
    return this.#states.size;
  }

  get(name: StateName): State | undefined {
    return name === this.#state.name ? this.#state : this.#states.get(name);
  }

  has(name: StateName): boolean {
    return this.#states.has(name);
  }

  keys() {
    return this.#states.keys();
  }

  values() {
    return new Map(this).values();
  }

  entries() {
    return new Map(this).entries();
  }

  forEach(each: (state: State, name: StateName, map: ReadonlyMap<StateName, State>) => void): void {
    for (const [name, state] of this) each(state, name, this);
  }

  *[Symbol.iterator](): MapIterator<[StateName, State]> {
    for (const [name, state] of this.#states) {
      yield [name, name === this.#state.name ? this.#state : state];
    }
  }
}
