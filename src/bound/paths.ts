/** The worst paths of a run, from its entry to an end, best-first by what each could still use. */
import type { Bound, PerMeasure } from './bound.ts';
import type { Machine } from './machine.ts';
import type { Most } from './most.ts';

type Step = Bound['paths'][number]['steps'][number];

interface Path {
  readonly steps: readonly Step[];
  readonly used: PerMeasure<number | undefined>;
}

/** A part of a path. It ends where the agent enters a node, or is over. */
interface Part {
  readonly at: number | undefined;
  readonly used: PerMeasure<number | undefined>;
  readonly steps: Steps | undefined;
  /** The most prompts of all paths that begin so. */
  readonly most: number;
}

interface Steps {
  readonly step: Step;
  readonly before: Steps | undefined;
}

export function worstPaths(
  machine: Machine,
  prompts: Most,
  measures: PerMeasure<Most | undefined>,
): readonly Path[] {
  const regions = new Map(
    prompts.components.flatMap((members) => members.map((at) => [at, members] as const)),
  );
  const none = { prompts: 0, cost_usd: measures.cost_usd && 0, time_ms: measures.time_ms && 0 };
  const open: Part[] = [
    { at: machine.entry, used: none, steps: undefined, most: prompts.total[machine.entry] ?? 0 },
  ];
  const paths = new Map<string, Path>();
  for (let tries = 0; tries < MOST_TRIES && paths.size < MOST_PATHS; tries += 1) {
    const part = takeWorst(open);
    if (!part) break;
    if (part.at === undefined) {
      const steps = listed(part.steps);
      const key = JSON.stringify(steps);
      if (!paths.has(key)) paths.set(key, { steps, used: part.used });
      continue;
    }
    open.push(...after(part, part.at));
  }
  return [...paths.values()];

  function after(part: Part, at: number): readonly Part[] {
    const members = regions.get(at) ?? [at];
    const here = new Set(members);
    const used = adding(part.used, (most) => most.inside[at] ?? 0);
    const step = stepOf(machine, members);
    const steps = step ? { step, before: part.steps } : part.steps;
    const exits = new Set(
      members.flatMap((member) => machine.nodes[member]?.next ?? []).filter((to) => !here.has(to)),
    );
    const possible = [...exits].filter((to) => (prompts.total[to] ?? 0) >= 0);
    const on = possible.map((to) => ({
      ...{ at: to, used, steps },
      most: (used.prompts ?? 0) + (prompts.total[to] ?? 0),
    }));
    const isEnd = possible.length === 0 || members.some((one) => machine.nodes[one]?.returns);
    // A callee may use more than its caller could after it.
    const stuck = members.some((one) => machine.nodes[one]?.callee !== undefined);
    const whole = adding(part.used, (most) => most.total[at] ?? 0);
    const last = isEnd ? used : stuck && isMore(whole, on) ? whole : undefined;
    return last ? [...on, { at: undefined, used: last, steps, most: last.prompts ?? 0 }] : on;
  }

  function adding(to: Path['used'], more: (most: Most) => number): Path['used'] {
    const sum = (name: keyof Path['used']) => {
      const most = measures[name];
      const before = to[name];
      return most && before !== undefined ? before + Math.max(0, more(most)) : undefined;
    };
    return { prompts: sum('prompts'), cost_usd: sum('cost_usd'), time_ms: sum('time_ms') };
  }
}

const MOST_PATHS = 5;
const MOST_TRIES = 10_000;

const isMore = ({ prompts = 0 }: Path['used'], others: readonly Part[]) =>
  others.every(({ most }) => prompts > most);

/** The newest one of several: a path that is followed to its end first is a result earlier. */
function takeWorst(open: Part[]): Part | undefined {
  let worst = 0;
  for (const [i, { most }] of open.entries()) if (most >= (open[worst]?.most ?? 0)) worst = i;
  return open.splice(worst, 1)[0];
}

function listed(last: Steps | undefined): readonly Step[] {
  const steps: Step[] = [];
  for (let at = last; at; at = at.before) steps.push(at.step);
  return steps.reverse();
}

function stepOf({ nodes }: Machine, members: readonly number[]): Step | undefined {
  const labels = (at: readonly number[]) => at.flatMap((one) => nodes[one]?.place?.label ?? []);
  const [only = 0, ...more] = members;
  if (more.length > 0) return { kind: 'loop', states: labels(members.toSorted((a, b) => a - b)) };
  const node = nodes[only];
  if (node?.callee !== undefined) return { kind: 'call', states: labels([node.callee]) };
  const forks = node?.forks ?? [];
  if (forks.length > 0) {
    const agents = forks.reduce((sum, { most }) => sum + most, 0);
    return { kind: 'fork', states: labels(forks.flatMap(({ to }) => to)), agents };
  }
  if (!node?.place) return undefined;
  return { kind: node.next.includes(only) ? 'loop' : 'state', states: [node.place.label] };
}
