/** Payloads with a schema, from the files of a workflow to the JSON of a finished run. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const REVIEW = JSON.stringify({
  type: 'object',
  required: ['verdict', 'file'],
  properties: { verdict: { enum: ['yes', 'no'] }, file: { $ref: 'file ü.schema.json' } },
});
const FILE = JSON.stringify({
  type: 'object',
  required: ['line'],
  properties: { line: { type: 'integer', minimum: 7 } },
});
const policy = (schema: string) =>
  `---\nallowed_transitions: [{tag: result, schema: ${schema}}]\n---\nReview. <result>{…}</result>`;
const FLOW = {
  'Ein Ablauf/START.md': policy('review.schema.json'),
  'Ein Ablauf/review.schema.json': REVIEW,
  'Ein Ablauf/file ü.schema.json': FILE,
};
const VALUE = { verdict: 'yes', file: { line: 7 } };

test.each(['Ein Ablauf', 'ü.zip'])(
  'a rehearsal of %s invents a result that fits, and show has it as JSON',
  async (name) => {
    const project = newProject(FLOW);
    if (name.endsWith('.zip'))
      expect(await command(project, ['convert', 'Ein Ablauf', name])).toMatchObject({ code: 0 });
    const { stdout } = await command(project, [
      name,
      '--rehearse',
      '--workflow-id',
      'r',
      '--quiet',
    ]);
    expect(JSON.parse(stdout)).toEqual(VALUE);
    const shown = JSON.parse((await command(project, ['show', 'r', '--json'])).stdout);
    expect(shown).toMatchObject({
      result: { text: JSON.stringify(VALUE) },
      result_json: VALUE,
      agents: [{ status: { kind: 'ended', result_json: VALUE } }],
    });
  },
);

test('a rehearsal takes the answers of its file, and says when it finds no value', async () => {
  const pattern = '{type: string, pattern: "^[a-f]{40}$"}';
  const project = newProject({ 'flow/START.md': policy(pattern) });
  const alone = await command(project, ['flow', '--rehearse']);
  expect(alone.code).toBe(1);
  expect(alone.stderr).toContain(
    'found no value that fits the schema of START.md. Write an answer into rehearsal.yaml.',
  );
  const answers = `START: ['<result>"${'a'.repeat(39)}"</result>', '<result>"${'a'.repeat(40)}"</result>']\n`;
  const helped = newProject({
    'flow/START.md': policy(pattern),
    'flow/rehearsal.yaml': `answers:\n  ${answers}`,
  });
  expect(await command(helped, ['flow', '--rehearse', '--quiet'])).toMatchObject({
    code: 0,
    stdout: `"${'a'.repeat(40)}"\n`,
  });
});

test('a test of a workflow sees the reminder', async () => {
  const project = newProject({
    ...FLOW,
    'Ein Ablauf/check.test.yaml': `
tests:
  - name: a wrong line
    answers:
      START:
        - <result>{"verdict":"no","file":{"line":1}}</result>
        - <result>{"verdict":"no","file":{"line":8}}</result>
    expect:
      path: [START]
      result: '{"verdict":"no","file":{"line":8}}'
`,
  });
  const { stdout, stderr } = await command(project, ['test', 'Ein Ablauf']);
  expect(stdout + stderr).toContain('1 passed');
});

test('a changed schema needs consent, like a changed state', async () => {
  const project = newProject({
    ...FLOW,
    'Ein Ablauf/rehearsal.yaml': 'answers:\n  START: { failure: refused }\n',
  });
  await command(project, ['Ein Ablauf', '--rehearse', '--workflow-id', 'r']);
  project.write('Ein Ablauf/review.schema.json', '{}');
  const { code, stderr } = await command(project, ['resume', 'r']);
  expect(code).not.toBe(0);
  expect(stderr).toContain('review.schema.json');
});

test('a remote reference is a fault, and nothing is fetched', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const project = newProject({
    'flow/START.md': policy(`{$ref: "http://127.0.0.1:${port}/a.schema.json"}`),
  });
  for (const words of [['lint', 'flow'], ['flow'], ['flow', '--rehearse']]) {
    const { code, stdout, stderr } = await command(project, words);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('which is neither in the workflow nor a JSON pointer');
  }
  server.close();
  expect(requests).toBe(0);
});
