/** The keys that say how a session ends when another one continues its work. A manifest has them too. */
import type { ContextLimit, NamedState } from '../model/workflow.ts';
import { stateNameProblem } from './transition.ts';
import { FROM_ONE } from './yaml-numbers.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

/** `handover: STATE`, the prompt with which an agent is asked for a handover. */
export function readHandover(reader: YamlReader, field: Field): { handover?: NamedState } {
  const name = reader.text(field, 'handover', 'the name of a state')?.trim();
  if (name === undefined) return {};
  const problem = stateNameProblem(name);
  if (problem) return reader.error('bad-name', field.offset, `${problem}.`) ?? {};
  return { handover: { name, ...reader.positionOf(field.offset) } };
}

/** `context: {max: 120000}`, the tokens beyond which a goto compacts the session. */
export function readContext(reader: YamlReader, field: Field): { context?: ContextLimit } {
  const parts = reader.fields(field, 'context', 'a map like {max: 120000}') ?? [];
  let maxTokens: number | undefined;
  for (const part of parts) {
    if (part.key === 'max') maxTokens = reader.number(part, 'max', FROM_ONE);
    else reader.unknownKey(part, ['max'], 'context');
  }
  if (maxTokens === undefined) return {};
  return { context: { maxTokens, ...reader.positionOf(field.offset) } };
}
