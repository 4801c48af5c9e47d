import type { Evaluator, EvaluatorTest } from '../model/workflow.ts';
import { patternProblem } from './pattern.ts';
import { readComplete } from './pinned-transition.ts';
import { stateNameProblem } from './transition.ts';
import { FROM_ONE, FROM_TWO, USD_ABOVE_0 } from './yaml-numbers.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** `{matches: "(?i)unable to", then: {tag: goto, target: ESCALATE}}` */
export function readEvaluator(
  reader: YamlReader,
  item: Item,
  choices: readonly string[],
): Evaluator | undefined {
  const expected = 'a map like {visits: 5, then: {tag: goto, target: GIVE_UP}}';
  const fields = reader.fields(item, 'An evaluator', expected, KEYS);
  if (!fields) return undefined;
  const test = readTest(reader, item, fields);
  const transition = readThen(reader, item, fields, choices);
  if (!test || !transition) return undefined;
  return { ...test, transition, ...reader.positionOf(item.offset) };
}

const TESTS = ['matches', 'visits', 'cost', 'unchanged', 'prompt'] as const;
const KEYS: readonly string[] = [...TESTS, 'expect', 'then'];

function readTest(
  reader: YamlReader,
  item: Item,
  fields: readonly Field[],
): EvaluatorTest | undefined {
  const found = TESTS.flatMap((kind) => {
    const field = fields.find(({ key }) => key === kind);
    return field ? [{ kind, field }] : [];
  });
  const [test, another] = found;
  if (!test || another) {
    const names = found.map(({ kind }) => kind).join(' and ');
    const message = `An evaluator has exactly one test, but this one has ${names || 'none'}.`;
    return reader.error('bad-evaluator', another?.field.keyOffset ?? item.offset, message, {
      remedy: `Keep one of ${TESTS.join(', ')}.`,
    });
  }
  const expect = fields.find(({ key }) => key === 'expect');
  if (expect && test.kind !== 'prompt') {
    reader.error('bad-evaluator', expect.keyOffset, 'expect belongs to a prompt.', {
      remedy: 'Remove it, or name the judging state with prompt.',
    });
  }
  switch (test.kind) {
    case 'matches':
      return readMatches(reader, test.field);
    case 'visits': {
      const count = reader.number(test.field, 'visits', FROM_ONE);
      return count === undefined ? undefined : { kind: 'visits', count };
    }
    case 'cost': {
      const usd = reader.number(test.field, 'cost', USD_ABOVE_0);
      return usd === undefined ? undefined : { kind: 'cost', usd };
    }
    case 'unchanged': {
      const count = reader.number(test.field, 'unchanged', FROM_TWO);
      return count === undefined ? undefined : { kind: 'unchanged', count };
    }
    case 'prompt':
      return readJudge(reader, test.field, expect);
  }
}

function readMatches(reader: YamlReader, field: Field): EvaluatorTest | undefined {
  const pattern = reader.text(field, 'matches', 'a regular expression');
  if (pattern === undefined) return undefined;
  const problem = patternProblem(pattern);
  if (!problem) return { kind: 'matches', pattern };
  return reader.error('bad-regex', field.offset, problem.message, { remedy: problem.remedy });
}

function readJudge(
  reader: YamlReader,
  field: Field,
  expectField: Field | undefined,
): EvaluatorTest | undefined {
  const state = reader.text(field, 'prompt', 'the name of a state');
  const problem = state === undefined ? undefined : stateNameProblem(state);
  if (problem) reader.error('bad-name', field.offset, `${problem}.`);
  if (!expectField) {
    return reader.error('bad-evaluator', field.keyOffset, 'prompt has no expect.', {
      remedy: 'Write the result that confirms the transition, like expect: "YES".',
    });
  }
  const expect = reader.text(expectField, 'expect', 'the result that confirms the transition');
  if (state === undefined || problem || expect === undefined) return undefined;
  return { kind: 'prompt', state, expect };
}

function readThen(
  reader: YamlReader,
  item: Item,
  fields: readonly Field[],
  choices: readonly string[],
) {
  const field = fields.find(({ key }) => key === 'then');
  if (field) return readComplete(reader, field, 'then', choices);
  return reader.error('bad-evaluator', item.offset, 'An evaluator without then does nothing.', {
    remedy: 'Write where it leads, like then: {tag: goto, target: NEXT}.',
  });
}
