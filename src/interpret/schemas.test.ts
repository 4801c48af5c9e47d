/** Payloads that are checked with a schema, and paths into values. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import type { StepReport } from '../model/input.ts';
import { play } from '../testing.ts';
import { fill } from './render.ts';

const REVIEW =
  '{type: object, required: [verdict], properties: {verdict: {enum: ["yes", "no"]}, files: {type: array, items: {type: string}}}}';
const policy = (...entries: string[]) =>
  `---\nallowed_transitions: [${entries.map((entry) => `{${entry}}`).join(', ')}]\n---\n`;
const checked = policy(`tag: result, schema: ${REVIEW}`);
const start = (text: string) => makeRun({ START: { text, answers: [] }, N: [] });

describe('a payload with a schema', () => {
  test('is followed byte for byte if it fits', () => {
    const payload = ' {"verdict":\t"yes"}\n';
    expect(start(checked).turn(`<result>${payload}</result>`).at(-1)).toMatchObject({
      type: 'agent-ended',
      result: payload,
      checked: true,
    });
  });

  test('is answered with a reminder that names the place and the schema', () => {
    const reminded = start(checked)
      .turn('<result>{"verdict": "maybe", "files": [1]}</result>')
      .at(-1);
    expect(reminded).toMatchObject({
      type: 'agent-reminded',
      number: 1,
      failure: {
        kind: 'forbidden-transition',
        message:
          'The payload of <result> does not fit its schema. At /verdict: expected "yes" or "no", found "maybe". At /files/0: expected a string, found 1.',
      },
    });
    const text = reminded?.type === 'agent-reminded' ? reminded.text : '';
    expect(text).toContain('    <result>[JSON that fits the schema]</result>');
    expect(text).toContain('The JSON Schema: {"type":"object","required":["verdict"]');
  });

  test('fails after the reminders with the place, if nothing fits', () => {
    const stage = start(
      policy('tag: result, schema: {properties: {a: {properties: {b: false}}}, required: [a]}'),
    );
    const answer = '<result>{"a": {"b": 1}}</result>';
    const last = [1, 2, 3, 4].map(() => stage.turn(answer).at(-1));
    expect(last.map((event) => event?.type)).toEqual([
      ...['agent-reminded', 'agent-reminded', 'agent-reminded'],
      'agent-failed',
    ]);
    expect(last.at(-1)).toMatchObject({
      failure: {
        kind: 'forbidden-transition',
        message: expect.stringContaining('At /a/b: expected nothing here.'),
      },
    });
  });

  test('is not needed by another entry, and then it is not JSON', () => {
    const both = policy(`tag: result, schema: ${REVIEW}`, 'tag: result, payload: none');
    const ended = start(both).turn('<result>none</result>').at(-1);
    expect(ended).toEqual(expect.objectContaining({ type: 'agent-ended', result: 'none' }));
    expect(ended).not.toHaveProperty('checked');
    expect(start(both).turn('<result>other</result>').at(-1)?.type).toBe('agent-reminded');
  });

  test('is checked again after a check of ensures', () => {
    const stage = start(checked.replace('---\n', '---\nensures: [{run: make}]\n'));
    stage.turn('<result>{"verdict": "no"}</result>');
    const passed: StepReport = {
      kind: 'answered',
      reading: { tags: [], bad: [] },
      ...{ text: '', exit: 0, denied: [] },
      account: { cost: { usd: 0, from: 'told' } },
      facts: {
        directories: new Map(),
        workflows: new Map(),
        worktrees: new Map(),
        environment: new Set(),
      },
    };
    expect(stage.turn(passed).at(-1)).toMatchObject({ type: 'agent-ended', checked: true });
  });

  test('does not let a hostile schema hang the decision', () => {
    const doubling = Array.from(
      { length: 60 },
      (_, at) => `a${at}: {anyOf: [{$ref: "#/$defs/a${at + 1}"}, {$ref: "#/$defs/a${at + 1}"}]}`,
    );
    const schema = `{$ref: "#/$defs/a0", $defs: {${doubling.join(', ')}, a60: {type: "null"}}}`;
    expect(
      start(policy(`tag: result, schema: ${schema}`))
        .turn('<result>1</result>')
        .at(-1),
    ).toMatchObject({
      failure: { message: expect.stringContaining('can be checked with less work') },
    });
  });
});

test('in the array of a join, a checked result is JSON and any other is text', async () => {
  const { steps } = await play({
    START: ['<fork>A</fork><fork>B</fork><join>MERGE</join>'],
    A: { text: checked, answers: ['<result>{"verdict": "yes", "files": ["a"]}</result>'] },
    B: ['<result>{"verdict": "no"}</result>'],
    MERGE: {
      text: '{{result.0.result.verdict}} {{result.0.result.files}} {{result.1.result}}\n{{result}}',
      answers: ['<result>x</result>'],
    },
  });
  const [paths, array = ''] = (steps.at(-1)?.prompt ?? '').split('\n');
  expect(paths).toBe('yes ["a"] {"verdict": "no"}');
  expect(JSON.parse(array)).toMatchObject([
    { result: { verdict: 'yes', files: ['a'] } },
    { result: '{"verdict": "no"}' },
  ]);
});

describe('a path in a template', () => {
  const value =
    '{"verdict": "yes", "files": [{"name": "a b"}, null, 2.5], "a-ü": true, "__proto__": 1}';
  const from = (text: string) => (name: string) => (name === 'result' ? text : undefined);

  test.each([
    ['{{result.verdict}}', 'yes'],
    ['{{result.files.0.name}} {{result.files.2}}', 'a b 2.5'],
    ['{{result.files}}', '[{"name":"a b"},null,2.5]'],
    ['{{result.files.1}}', 'null'],
    ['{{result.a-ü}}', 'true'],
    ['{{result.__proto__}}', '1'],
  ])('%s leads to %s', (template, expected) => {
    expect(fill(template, from(value))).toBe(expected);
  });

  test.each([
    ...['{{result.missing}}', '{{result.files.3}}', '{{result.files.01}}', '{{result.files.-1}}'],
    ...['{{result.files.length}}', '{{result.verdict.length}}', '{{result.verdict.0}}'],
    ...[
      '{{result.constructor}}',
      '{{result.toString}}',
      '{{result.files.map}}',
      '{{other.verdict}}',
    ],
    ...['{{result.}}', '{{result..verdict}}', '{{result. verdict}}', '{{.verdict}}'],
  ])('%s stays as written', (template) => {
    expect(fill(template, from(value))).toBe(template);
  });

  test('never throws, and never inserts what is no part of the value', () => {
    const key = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'length', '0', 'a'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.array(key), (text, keys) => {
        const template = `{{result.${keys.join('.')}}}`;
        const filled = fill(template, from(text));
        if (filled !== template) expect(() => JSON.parse(text)).not.toThrow();
      }),
    );
  });

  test('takes time linear in the template and in the value', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    expect(fill('{{result.0}}', from(deep))).toBe('{{result.0}}');
    const list = JSON.stringify(Array.from({ length: 200_000 }, (_, at) => at));
    const many = Array.from({ length: 50_000 }, (_, at) => `{{result.${at}}}`).join(' ');
    expect(fill(many, from(list)).split(' ').at(-1)).toBe('49999');
    for (const hard of [
      '{{a'.repeat(300_000),
      `{{a${'.a'.repeat(500_000)}`,
      '{{a.'.repeat(300_000),
      `"${'\\"'.repeat(500_000)}`,
    ])
      expect(fill(hard, from(hard))).toBe(hard);
    expect(fill('{{result.a}}', from(`"${'\\"'.repeat(500_000)}`))).toBe('{{result.a}}');
  });
});
