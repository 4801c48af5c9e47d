/** The manifest of a folder or an archive: what it says about the workflow, and limits of states. */
import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { About, Limits, State } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { LIMIT_KEYS, readLimits } from './limits.ts';
import { nameIndex, suggestion } from './nearest.ts';
import { NO_POLICY } from './policy.ts';
import { stemOf } from './state.ts';
import { HEAD_KEYS, readHead } from './workflow-head.ts';
import { type Field, YamlReader } from './yaml-reader.ts';

export const MANIFEST = 'workflow.yaml';

/** The keys at the top level. */
export const MANIFEST_KEYS: readonly string[] = [...HEAD_KEYS, 'states'];

/** A name with which an author probably meant the manifest. */
export function isLikeManifest(name: string): boolean {
  return /^workflow\.ya?ml$/i.test(name);
}

type States = ReadonlyMap<StateName, State>;

export interface ManifestReading {
  readonly about: About;
  /** The states with their limits. */
  readonly states: States;
  readonly diagnostics: readonly Diagnostic[];
}

export function readManifest(text: string, states: States, agents: Agents): ManifestReading {
  const reader = new YamlReader(MANIFEST, text);
  const isNothing = reader.errorCount() > 0 || reader.isEmpty(reader.root);
  const expected = 'keys with values, like name: Review';
  const fields = isNothing
    ? []
    : (reader.fields(reader.root, 'A manifest', expected, MANIFEST_KEYS) ?? []);
  const about = readHead(reader, fields, agents);
  const limited = fields
    .filter(({ key }) => key === 'states')
    .flatMap((field) => readStates(reader, field, states));
  return {
    about,
    states: new Map([...states, ...limited]),
    diagnostics: reader.takeFaults(),
  };
}

function readStates(
  reader: YamlReader,
  field: Field,
  states: States,
): readonly (readonly [StateName, State])[] {
  if (reader.isEmpty(field)) return [];
  const named = reader.fields(field, 'states', 'a map of states to limits') ?? [];
  const find = finder(reader, states);
  return named.flatMap((entry) => {
    const meant = find(entry);
    const expected = 'limits, like { timeout: 30, max_visits: 100 }';
    const keys = meant.length > 0 && reader.fields(entry, entry.key, expected, LIMIT_KEYS);
    const limits = readLimits(reader, keys || []);
    return meant.flatMap((state) => {
      if (hasFrontMatter(state)) return misplaced(reader, entry, state);
      return [[state.name, withLimits(state, limits)] as const];
    });
  });
}

/** Finds one file, or the files for each platform if the name has no extension. */
function finder(reader: YamlReader, states: States): (entry: Field) => readonly State[] {
  const byName = new Map<string, State[]>();
  for (const state of states.values()) {
    byName.set(state.name, [state]);
    const stem = stemOf(state.name);
    byName.set(stem, [...(byName.get(stem) ?? []), state]);
  }
  const names = nameIndex(byName.keys());
  return ({ key, keyOffset }) => {
    const found = byName.get(key);
    if (found) return found;
    const [meant] = names.nearest(key, 1);
    const message = `There is no state "${clip(key)}".`;
    const details = suggestion(meant, 'Name a file of this workflow.');
    reader.error('missing-state', keyOffset, message, details);
    return [];
  };
}

const hasFrontMatter = (state: State) => state.kind === 'prompt' && state.policy !== NO_POLICY;

function misplaced(reader: YamlReader, { keyOffset }: Field, { name }: State): [] {
  const message = `${name} has front matter, so its limits belong there.`;
  reader.error('misplaced-limits', keyOffset, message, {
    remedy: `Move them to the front matter of ${name}.`,
  });
  return [];
}

function withLimits(state: State, limits: Limits): State {
  switch (state.kind) {
    case 'prompt':
      return { ...state, policy: { ...state.policy, ...limits } };
    case 'script':
      return { ...state, limits };
    case 'broken':
      return state;
  }
}
