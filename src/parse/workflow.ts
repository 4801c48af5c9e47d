import type { AgentDeclaration } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Source, SourceFile } from '../model/source.ts';
import type { StateName } from '../model/state-name.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import { findState, listed, type Resolution, type States } from './resolve.ts';
import { broken, EXTENSIONS, isStateFile, readState, type StateReading } from './state.ts';

export type WorkflowReading =
  | { readonly ok: true; readonly workflow: Workflow }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly remedy: string;
      readonly diagnostics: readonly Diagnostic[];
    };

/** Reads all states of a source, and finds its entry. Only a source without an entry is refused. */
export function parseWorkflow(
  source: Source,
  platform: Platform,
  agent: AgentDeclaration,
): WorkflowReading {
  const readings = source.files.flatMap((file) => readFile(file, agent) ?? []);
  readings.sort((a, b) => (a.state.name < b.state.name ? -1 : 1));
  const states = new Map(readings.map(({ state }) => [state.name, state]));
  // States that come from one key share their faults.
  const diagnostics = [
    ...new Set([...source.diagnostics, ...readings.flatMap((reading) => reading.diagnostics)]),
  ];
  const entry = findEntry({ states, platform }, source);
  if (!('found' in entry)) return { ok: false, ...entry, diagnostics };
  const { ref, name, about } = source;
  return {
    ok: true,
    workflow: { ref, name, platform, agent, entry: entry.found, states, about, diagnostics },
  };
}

function readFile(
  { name, content }: SourceFile,
  agent: AgentDeclaration,
): StateReading | undefined {
  if (!isStateFile(name)) return undefined;
  if ('bytes' in content) return readState(name, content.bytes, agent);
  if ('problem' in content) return broken(name, [unusable(name, content)]);
  const { state } = content;
  return { state, diagnostics: state.kind === 'broken' ? state.diagnostics : [] };
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

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
