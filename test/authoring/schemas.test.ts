import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { tagChoices } from '../../src/parse/agent-choices.ts';
import { readCheckedYaml } from '../../src/parse/checked-yaml.ts';
import { evalFileSchema } from '../../src/parse/eval-file.ts';
import { policyKeys } from '../../src/parse/policy.ts';
import { readYamlWorkflow } from '../../src/parse/yaml-workflow.ts';
import { schemas } from '../../src/schemas/schemas.ts';
import { configTemplate } from '../../src/world/config/config-file.ts';
import { ROOT } from './sandbox.ts';

const { name: packageName } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const made = schemas(AGENTS, `https://unpkg.com/${packageName}/dist/schemas`);
const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false });

function accepts(name: string, value: unknown): boolean {
  const schema = made[name] ?? {};
  const check = ajv.getSchema(String(schema.$id)) ?? ajv.compile(schema);
  return check(value) === true;
}

test('the published files are equal to the generated ones', () => {
  for (const [name, schema] of Object.entries(made)) {
    const file = join(ROOT, 'dist/schemas', `${name}.json`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema)));
  }
  expect(Object.keys(made)).toEqual([
    'front-matter',
    'workflow',
    'manifest',
    'config',
    'test',
    'eval',
    'rehearsal',
    'journal',
  ]);
});

test('every schema names its own address in the package', () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(exports['./schemas/*.json']).toBe('./dist/schemas/*.json');
  for (const [name, { $id }] of Object.entries(made))
    expect($id).toBe(`https://unpkg.com/${packageName}/dist/schemas/${name}.json`);
});

const SCHEMAS: ReadonlyMap<string, string> = new Map([
  ['rehearsal.yaml', 'rehearsal'],
  ['workflow.yaml', 'manifest'],
]);

describe.each(readdirSync(join(ROOT, 'templates')))('the template %s', (template) => {
  const folder = join(ROOT, 'templates', template);
  const files = readdirSync(folder).filter((file) => !/\.sh$|^README\.md$/.test(file));
  test.each(files)('%s is valid', (file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const front = /^---\n([\s\S]*?)---\n/.exec(text)?.[1] ?? '';
    if (file.endsWith('.md')) expect(accepts('front-matter', parse(front))).toBe(true);
    else expect(accepts(SCHEMAS.get(file) ?? 'test', parse(text))).toBe(true);
  });
});

test('the examples of the guide are valid', () => {
  const guide = readFileSync(join(ROOT, 'docs/reference/test-files.md'), 'utf8');
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) =>
    parse(text ?? ''),
  );
  expect(blocks).toHaveLength(5);
  expect(accepts('rehearsal', blocks[0])).toBe(true);
  for (const block of blocks.slice(1)) expect(accepts('test', block)).toBe(true);
});

test('the example of an eval is valid', () => {
  const reference = readFileSync(join(ROOT, 'docs/reference/eval-files.md'), 'utf8');
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(reference) ?? [];
  expect(accepts('eval', parse(text))).toBe(true);
  expect(readCheckedYaml(evalFileSchema(tagChoices(AGENTS)), 'eval.yaml', text)).toMatchObject({
    ok: true,
  });
});

test('every key of the front matter is in the schema', () => {
  expect(Object.keys(made['front-matter']?.properties ?? {})).toEqual(policyKeys(AGENTS));
});

const EVALUATORS = `evaluators:
  - { matches: "(?i)unable to", then: { tag: goto, target: ESCALATE.md } }
  - { visits: 5,  then: { tag: goto, target: GIVE_UP.md } }
  - { cost: 4.00, then: { tag: result, payload: too expensive } }
  - { prompt: JUDGE.md, expect: "YES", then: { tag: goto, target: REVISE.md } }`;

test.each([
  ['front-matter', 'allowed_transitions: [{tag: call, target: A, return: B}, {tag: result}]'],
  ['front-matter', 'allowed_transitions: [{tag: fork, target: A, next: B, item: 7}]'],
  ['front-matter', EVALUATORS],
  [
    'front-matter',
    'model: claude-opus-4-1\neffort: high\ntimeout: 0\nmax_visits: 3\non_interrupt: restart',
  ],
  ['front-matter', 'allowed_tools: [Read]\ndisallowed_tools: [Bash]\npermission_mode: plan'],
  ['front-matter', ''],
  [
    'workflow',
    'id: a\ndefault_budget: 5\nstates: {START: {prompt: x, max_visits: 2}, B: {sh: ls, ps1: dir}}',
  ],
  ['workflow', 'input: {required: true}\nstates: {A: {sh: ls, timeout: 3, max_visits: 2}}'],
  ['manifest', ''],
  ['manifest', 'id: a\ninput: x\nagent: claude\nstates: {POLL.sh: {timeout: 3, max_visits: 2}}'],
  ['config', 'raymond: {budget: 5, set: [a=b], fail_fast: true, claude_path: /bin/claude}'],
  [
    'test',
    'answers: {START: [a, {failure: idle}]}\nexpect: {outcome: "stopped: budget", path: [A]}',
  ],
  ['eval', 'cases: [{name: 1, git: true}]\nvariants: [{name: v, with: [a.md]}]'],
  ['rehearsal', 'answers: {START: {text: a, cost: 1}}\nreplies: [1, yes]'],
  ['journal', '{type: agent-ended, at: 5, agent: main, result: ok}'],
])('%s accepts %s', (name, text) => {
  expect(accepts(name, parse(text))).toBe(true);
});

test.each([
  ['front-matter', 'alowed_transitions: []'],
  ['front-matter', 'allowed_transitions: [{tag: gotoo, target: A}]'],
  ['front-matter', 'allowed_transitions: [{tag: goto, return: A}]'],
  ['front-matter', 'allowed_transitions: [{target: A}]'],
  ['front-matter', 'evaluators: [{visits: 5}]'],
  ['front-matter', 'evaluators: [{visits: 5, then: {tag: goto}}]'],
  ['front-matter', 'evaluators: [{visits: 5, cost: 1, then: {tag: goto, target: A}}]'],
  ['front-matter', 'model: "-x"'],
  ['front-matter', 'max_visits: 0'],
  ['front-matter', 'on_interrupt: stop'],
  ['workflow', 'name: x'],
  ['workflow', 'states: {START: {prompt: x, sh: ls}}'],
  ['workflow', 'states: {START.md: {prompt: x}}'],
  ['workflow', 'states: {START: {}}'],
  ['workflow', 'states: {START: {prompt: x, max_vists: 2}}'],
  ['workflow', 'states: {START: {timeout: 2}}'],
  ['workflow', 'states: {START: {sh: ls, model: opus}}'],
  ['manifest', 'nam: x'],
  ['manifest', 'agent: nobody'],
  ['manifest', 'states: {POLL.sh: {model: opus}}'],
  ['config', 'raymond: {bugdet: 5}'],
  ['config', 'raymond: {budget: lots}'],
  ['config', 'raymond: {rehearse: true}'],
  ['config', 'budget: 5'],
  ['test', 'expect: {pth: [A]}'],
  ['test', 'answers: {START: {failure: tired}}'],
  ['test', 'answers: {START: []}'],
  ['eval', 'variants: []'],
  ['eval', 'cases: [{name: a}]\nrepetition: 3'],
  ['rehearsal', 'replies: yes'],
  ['rehearsal', 'expect: {}'],
  ['journal', '{type: agent-ended, agent: main, result: ok}'],
])('%s rejects %s', (name, text) => {
  expect(accepts(name, parse(text))).toBe(false);
});

test('the workflow schema accepts what the parser accepts', () => {
  const text = 'id: a\nstates: {START: {prompt: x, max_visits: 2}, B: {sh: ls}}';
  expect(readYamlWorkflow('w.yaml', text, AGENTS).diagnostics).toEqual([]);
  expect(accepts('workflow', parse(text))).toBe(true);
});

test('each configurable option is in the schema', () => {
  const keys = [...configTemplate().matchAll(/^# (\w+) =/gm)].map(([, key]) => key);
  expect(JSON.stringify(made.config)).toContain('"budget"');
  for (const key of keys) expect(JSON.stringify(made.config)).toContain(`"${key}":`);
});
