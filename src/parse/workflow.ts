import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Source, SourceFile } from '../model/source.ts';
import type { StateName } from '../model/state-name.ts';
import type { Platform, State, Workflow } from '../model/workflow.ts';
import { withUsual } from './chosen-agent.ts';
import { isLikeManifest, MANIFEST, type ManifestReading, readManifest } from './manifest.ts';
import { schemaReader } from './payload-schema.ts';
import { broken, notUtf8, readState, type StateReading } from './read-state.ts';
import { findState, listed, type Resolution, type States } from './resolve.ts';
import { EXTENSIONS, isStateFile } from './state.ts';
import { decodeUtf8 } from './utf8.ts';
import { isError } from './yaml-reader.ts';

export type WorkflowReading =
  | { readonly ok: true; readonly workflow: Workflow }
  | {
      readonly ok: false;
      readonly code: string;
      /** The file that causes it; empty if it is the source as a whole. */
      readonly file: string;
      readonly message: string;
      readonly remedy: string;
      readonly diagnostics: readonly Diagnostic[];
    };

/** Reads all states of a source, and finds its entry. Only a source without an entry is refused. */
export function parseWorkflow(source: Source, platform: Platform, agents: Agents): WorkflowReading {
  const chosen = withUsual(agents, source.about?.agent ?? manifestAgents(source.files, agents));
  const { states, ...read } = readFiles(source.files, chosen);
  // States that come from one key share their faults.
  const diagnostics = [...new Set([...source.diagnostics, ...read.diagnostics])];
  const { ref } = source;
  const about = { ...source.about, ...read.about };
  const name = about.id ?? source.name;
  const entry = findEntry({ states, platform }, { ...source, name });
  if (!('found' in entry)) {
    const state = entry.state && states.get(entry.state);
    const file = state && state.kind !== 'broken' ? state.place.file : (entry.state ?? '');
    return { ok: false, ...entry, file, diagnostics };
  }
  return {
    ok: true,
    workflow: {
      ref,
      name,
      platform,
      agents: chosen,
      entry: entry.found,
      states,
      about,
      diagnostics,
    },
  };
}

/** Reads states and a manifest. They need no entry. */
export function readFiles(files: readonly SourceFile[], agents: Agents): ManifestReading {
  const schemas = schemaReader(files);
  const readings = files.flatMap((file) => {
    const reading = readFile(file, agents);
    return reading ? [withSchemas(reading, schemas)] : [];
  });
  readings.sort((a, b) => (a.state.name < b.state.name ? -1 : 1));
  const states = new Map(readings.map(({ state }) => [state.name, state]));
  const manifest = manifestIn(files, states, agents);
  const own = readings.flatMap((reading) => reading.diagnostics);
  return { ...manifest, diagnostics: [...manifest.diagnostics, ...own] };
}

/** A state with a schema that cannot be used is broken, because its results cannot be checked. */
function withSchemas(
  reading: StateReading,
  schemas: ReturnType<typeof schemaReader>,
): StateReading {
  const { state } = reading;
  const read = state.kind === 'prompt' ? schemas(state) : undefined;
  if (!read) return reading;
  const diagnostics = [...reading.diagnostics, ...read.diagnostics];
  return read.diagnostics.some(isError)
    ? broken(state.name, diagnostics)
    : { state: read.state, diagnostics };
}

/** The agents that a manifest chooses. States are checked for them, so it is read before them. */
function manifestAgents(
  files: readonly SourceFile[],
  agents: Agents,
): readonly string[] | undefined {
  const found = files.find(({ name }) => name === MANIFEST)?.content;
  const text = found && 'bytes' in found ? decodeUtf8(found.bytes) : undefined;
  // A key may be quoted, and JSON may escape its letters. Most manifests need not be read twice.
  if (!text?.ok || !/agent|\\[xuU]/.test(text.text)) return undefined;
  return manifestIn(files, new Map(), agents).about.agent;
}

function readFile({ name, content }: SourceFile, agents: Agents): StateReading | undefined {
  if (!isStateFile(name)) return undefined;
  if ('bytes' in content) return readState(name, content.bytes, agents);
  if ('problem' in content) return broken(name, [unusable(name, content)]);
  const { state } = content;
  return { state, diagnostics: state.kind === 'broken' ? state.diagnostics : [] };
}

function manifestIn(
  files: readonly SourceFile[],
  states: ReadonlyMap<StateName, State>,
  agents: Agents,
): ManifestReading {
  const none = { about: {}, states };
  const misnamed = files.filter(({ name }) => isLikeManifest(name) && name !== MANIFEST);
  const found = files.find(({ name }) => name === MANIFEST)?.content;
  if (!found || 'state' in found) return { ...none, diagnostics: misnamed.map(misnamedManifest) };
  if ('problem' in found) return { ...none, diagnostics: [unusable(MANIFEST, found)] };
  const decoded = decodeUtf8(found.bytes);
  if (!decoded.ok) {
    return { ...none, diagnostics: [notUtf8(MANIFEST, found.bytes, decoded.offset)] };
  }
  const read = readManifest(decoded.text, states, agents);
  return { ...read, diagnostics: [...misnamed.map(misnamedManifest), ...read.diagnostics] };
}

/** Its author relies on limits that do not apply. */
function misnamedManifest({ name }: SourceFile): Diagnostic {
  return {
    severity: 'error',
    code: 'misnamed-manifest',
    file: name,
    line: 1,
    column: 1,
    message: `Raymond does not read ${name}: a manifest has the name ${MANIFEST}.`,
    remedy: `Rename it to ${MANIFEST}.`,
    nearest: MANIFEST,
  };
}

function unusable(
  file: string,
  { problem, remedy }: { problem: string; remedy: string },
): Diagnostic {
  return {
    severity: 'error',
    code: 'unusable-file',
    file,
    line: 1,
    column: 1,
    message: problem,
    remedy,
  };
}

type EntrySearch =
  | { readonly found: StateName }
  | {
      readonly code: 'no-entry' | 'two-entries' | 'ambiguous-entry' | 'no-such-state';
      /** One of the states that cause it. */
      readonly state?: StateName | undefined;
      readonly message: string;
      readonly remedy: string;
    };

/** A broken state may be the entry: a user who runs it sees what is wrong. */
function findEntry(workflow: States, { entry, name }: Source): EntrySearch {
  if (entry !== undefined) {
    const resolved = findState(workflow, entry);
    return 'found' in resolved ? resolved : badEntry(resolved, name);
  }
  const hits = ['1_START', 'START']
    .map((start) => findState(workflow, start))
    .filter((resolved) => 'found' in resolved || resolved.problem === 'ambiguous');
  const [hit, another] = hits;
  if (another) {
    return {
      code: 'two-entries',
      state: hits.flatMap((one) => ('found' in one ? one.found : []))[0],
      message: `The workflow ${name} has both a 1_START and a START.`,
      remedy: 'Rename one, or name the state at which to begin.',
    };
  }
  if (!hit) return noEntry(workflow, name);
  return 'found' in hit ? hit : badEntry(hit, name);
}

function badEntry(resolved: Exclude<Resolution, { found: StateName }>, name: string): EntrySearch {
  return {
    code: resolved.problem === 'ambiguous' ? 'ambiguous-entry' : 'no-such-state',
    state: resolved.problem === 'ambiguous' ? resolved.close.find(isStateFile) : undefined,
    message: `The workflow ${name} cannot begin: ${lowerFirst(resolved.message)}`,
    remedy:
      resolved.close.length > 0
        ? `Name a state that it has, like ${resolved.close[0]}.`
        : 'Name a state that it has.',
  };
}

function noEntry({ states, platform }: States, name: string): EntrySearch {
  if (states.size === 0) {
    const message = `There is no workflow in ${name}: it contains no states.`;
    return { code: 'no-entry', message, remedy: 'Name a folder that contains START.md.' };
  }
  const endings = EXTENSIONS[platform].join(', ');
  return {
    code: 'no-entry',
    message: `The workflow ${name} has no entry: it contains neither 1_START nor START (${endings}). ${listed([...states.keys()])}`,
    remedy: 'Add a START.md, or name the state at which to begin.',
  };
}

/** A name keeps its letters: POLL.bat. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.slice(0, 1).toLowerCase() + text.slice(1) : text;
}
