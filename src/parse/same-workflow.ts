/** Whether two forms of a workflow mean the same. */
import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { About, Position, State } from '../model/workflow.ts';
import { readFiles } from './workflow.ts';
import { isError } from './yaml-reader.ts';
import { readYamlWorkflow } from './yaml-workflow.ts';

export interface TextFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type Converted<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** A workflow that was read, whatever its form. */
export interface Reading {
  readonly states: readonly State[];
  readonly about: About;
  readonly diagnostics: readonly Diagnostic[];
}

export function readingOfFiles(files: readonly TextFile[], agents: Agents): Reading {
  const read = readFiles(
    files.map(({ name, bytes }) => ({ name, content: { bytes } })),
    agents,
  );
  return { ...read, states: [...read.states.values()] };
}

export function readingOfYaml(file: string, text: string, agents: Agents): Reading {
  const { states = [], about, diagnostics } = readYamlWorkflow(file, text, agents);
  const ofStates = states.flatMap((state) => (state.kind === 'broken' ? state.diagnostics : []));
  return { states, about, diagnostics: [...diagnostics, ...ofStates] };
}

/** Why a workflow cannot be converted: an error in it. */
export function errorIn({ diagnostics }: Reading): string | undefined {
  const fault = diagnostics.find(isError);
  return fault && `${fault.file}:${fault.line}:${fault.column}: ${fault.message}`;
}

/** Why the new form does not mean the same; undefined when it does. */
export function differenceOf(before: Reading, after: Reading): string | undefined {
  const fault = after.diagnostics.find(isError);
  if (fault) return fault.message;
  const [was, is] = [essences(before.states), essences(after.states)];
  const names = [...new Set([...was.keys(), ...is.keys()])];
  const changed = names.find((name) => was.get(name) !== is.get(name));
  if (changed !== undefined) return `${changed} would not mean the same.`;
  if (essence(before.about) === essence(after.about)) return undefined;
  return 'The description of the workflow would not mean the same.';
}

function essences(states: readonly State[]): ReadonlyMap<string, string> {
  return new Map(states.map((state) => [state.name, essence(state)]));
}

/** Without the places of the parts, and with sorted keys. */
function essence(value: unknown): string {
  return JSON.stringify(value, (key, inner) => {
    if (isPlace(key, inner)) return undefined;
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject ? Object.fromEntries(Object.entries(inner).sort(byKey)) : inner;
  });
}

/** A variable may have the name `line`, but its value is a text. */
const isPlace = (key: string, value: unknown) =>
  key === 'place' ? typeof value === 'object' : POSITION.has(key) && typeof value === 'number';

const POSITION: ReadonlySet<string> = new Set<keyof Position>(['line', 'column']);

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
