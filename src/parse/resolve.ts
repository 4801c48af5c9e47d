import type { StateName } from '../model/state-name.ts';
import type { BrokenState, Platform, Workflow } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { type NameIndex, nameIndex } from './nearest.ts';
import { EXTENSIONS, extensionOf, isStateFile, stemOf } from './state.ts';

export type States = Pick<Workflow, 'states' | 'platform'>;

export type Resolution =
  | { readonly found: StateName }
  | {
      readonly problem: 'missing' | 'ambiguous' | 'wrong-platform' | 'broken';
      readonly message: string;
      /** The names that the author probably meant, best first. */
      readonly close: readonly string[];
      /** The state that exists but is broken. */
      readonly broken?: StateName;
    };

/** Finds the state for a name as an author or an agent writes it. */
export function resolveState(workflow: States, name: string): Resolution {
  const resolved = findState(workflow, name);
  const state = 'found' in resolved ? workflow.states.get(resolved.found) : undefined;
  if (state?.kind !== 'broken') return resolved;
  return { problem: 'broken', message: brokenBecause(state), close: [], broken: state.name };
}

/** Why a state cannot be used, with the place of its first fault and the remedy. */
export function brokenBecause({ name, diagnostics }: BrokenState): string {
  const [first] = diagnostics;
  if (!first) return `The state ${name} cannot be read.`;
  const { file, line, column, message, remedy } = first;
  return `The state ${name} cannot be used: ${file}:${line}:${column}: ${message}${remedy ? ` ${remedy}` : ''}`;
}

/** The same, but also finds broken states. */
export function findState(workflow: States, name: string): Resolution {
  const { states, platform } = workflow;
  const existing = candidates(name).filter((candidate) => states.has(candidate));
  const [hit, ...more] = existing.filter((candidate) => suits(candidate, platform));
  if (hit === undefined) {
    return existing.length > 0 ? otherPlatform(existing, platform) : missing(workflow, name);
  }
  return more.length > 0 ? ambiguous(name, [hit, ...more]) : { found: hit };
}

/** The file itself if the name has an extension, or else every file that the name can mean. */
function candidates(name: string): readonly StateName[] {
  const names =
    extensionOf(name) === undefined
      ? [...new Set(Object.values(EXTENSIONS).flat())].map((extension) => name + extension)
      : [name];
  return names.filter(isStateFile);
}

function suits(name: string, platform: Platform): boolean {
  return EXTENSIONS[platform].some((extension) => extension === extensionOf(name));
}

function otherPlatform(existing: readonly StateName[], platform: Platform): Resolution {
  const [here, needed] = platform === 'unix' ? ['Unix', '.sh'] : ['Windows', '.ps1 or .bat'];
  return {
    problem: 'wrong-platform',
    message: `${existing.join(' and ')} cannot run on ${here}. States for ${here} end in .md, ${needed}.`,
    close: [],
  };
}

function ambiguous(name: string, hits: readonly StateName[]): Resolution {
  return {
    problem: 'ambiguous',
    message: `"${clip(name)}" can mean ${hits.join(' or ')}. Add the extension.`,
    close: hits,
  };
}

/**
 * Searches for similar names only when they are read: most callers only need to know whether the
 * state exists.
 */
function missing(workflow: States, name: string): Resolution {
  let found: readonly string[] | undefined;
  const close = () => {
    const { byStem, stems } = usableIn(workflow);
    found ??= stems.nearest(stemOf(name)).flatMap((stem) => byStem.get(stem) ?? []);
    return found;
  };
  return {
    problem: 'missing',
    get close() {
      return close();
    },
    get message() {
      const hint =
        close().length > 0 ? `Similar names: ${close().join(', ')}.` : usableIn(workflow).listed;
      return `There is no state "${clip(name)}". ${hint}`;
    },
  };
}

interface Usable {
  readonly byStem: ReadonlyMap<string, StateName>;
  readonly stems: NameIndex;
  /** Lists them in a sentence. */
  readonly listed: string;
}

/** Computed once for each workflow. */
const usable = {
  unix: new WeakMap<States['states'], Usable>(),
  windows: new WeakMap<States['states'], Usable>(),
};

function usableIn({ states, platform }: States): Usable {
  const known = usable[platform].get(states);
  if (known) return known;
  const names = [...states.keys()].filter((state) => suits(state, platform));
  const byStem = new Map(names.map((state) => [stemOf(state), state]));
  const found = { byStem, stems: nameIndex(byStem.keys()), listed: listed(names) };
  usable[platform].set(states, found);
  return found;
}

/** Lists the states of a workflow in a sentence. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'The workflow has no states.';
  const shown = names.slice(0, 8).join(', ');
  return `The workflow has ${shown}${names.length > 8 ? ` and ${names.length - 8} more` : ''}.`;
}
