import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { BrokenState, Interpreter, State } from '../model/workflow.ts';
import { placeIn, readPrompt } from './front-matter.ts';
import { otherShebang, shebangOf } from './shebang.ts';
import { extensionOf, INTERPRETERS } from './state.ts';
import { decodeUtf8 } from './utf8.ts';
import { isError } from './yaml-reader.ts';

export interface StateReading {
  readonly state: State;
  readonly diagnostics: readonly Diagnostic[];
}

export function readState(name: StateName, bytes: Uint8Array, agents: Agents): StateReading {
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return broken(name, [notUtf8(name, bytes, decoded.offset)]);
  const extension = extensionOf(name);
  if (extension !== undefined && extension !== '.md') {
    const interpreter = INTERPRETERS[extension];
    const other = otherInterpreter(name, decoded.text, interpreter);
    if (other) return broken(name, [other]);
    const state: State = {
      kind: 'script',
      name,
      text: decoded.text,
      place: placeIn(name, 1),
      interpreter,
      limits: {},
    };
    return { state, diagnostics: [] };
  }
  const { diagnostics, ...prompt } = readPrompt(name, decoded.text, agents);
  if (diagnostics.some(isError)) return broken(name, diagnostics);
  return { state: { kind: 'prompt', name, ...prompt }, diagnostics };
}

function otherInterpreter(
  name: StateName,
  text: string,
  interpreter: Interpreter,
): Diagnostic | undefined {
  const shebang = interpreter === 'bash' ? shebangOf(text) : undefined;
  if (shebang?.kind !== 'other') return undefined;
  const start = { file: name, line: 1, column: 1 };
  return { severity: 'error', ...otherShebang(name, shebang.named), ...start };
}

export function broken(name: StateName, diagnostics: readonly Diagnostic[]): StateReading {
  const state: BrokenState = { kind: 'broken', name, diagnostics };
  return { state, diagnostics };
}

export function notUtf8(file: string, bytes: Uint8Array, offset: number): Diagnostic {
  const before = bytes.subarray(0, offset);
  const lineStart = before.lastIndexOf(0x0a) + 1;
  const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0').toUpperCase();
  return {
    severity: 'error',
    code: 'not-utf8',
    file,
    line: before.reduce((lines, value) => (value === 0x0a ? lines + 1 : lines), 1),
    column: offset - lineStart + 1,
    message: `${file} is not UTF-8: the byte ${byte} at offset ${offset} is not valid.`,
    remedy: 'Save the file as UTF-8.',
  };
}
