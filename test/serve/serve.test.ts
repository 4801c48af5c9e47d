// `raymond serve` as a process: its start and end, what it shows of runs, and what it starts.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { Project } from '../raymond.ts';
import { type Served, served } from './served.ts';

const FLOWS = {
  'ask/START.sh': `echo '<ask next="NEXT">which colour? <script>alert(1)</script></ask>'`,
  'ask/NEXT.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  'not/a/listed/one/plan/START.md': 'Plan, with <result>x</result>.',
  'gate/START.sh': 'while [ ! -e go ]; do sleep 0.05; done; echo "<result>ok</result>"',
};

describe('the process', () => {
  test('prints one address with the token in its fragment, and a signal ends it', async () => {
    const project = newProject({});
    const { port, token } = JSON.parse(
      await firstLine(project, ['serve', '--port', '0', '--json']),
    );
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(port).toBeGreaterThan(0);
    const plain = project.start(['serve', '--port', '0']);
    await eventually('it has printed its address', () => plain.stdout().includes('\n'));
    expect(plain.stdout()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/);
    plain.child.kill('SIGTERM');
    expect(await plain.ended).toMatchObject({ code: 0 });
  });

  test.each(['-1', '65536', 'x', '1.5'])('refuses the port %s', async (port) => {
    const project = newProject({});
    const { code, stderr } = await command(project, ['serve', '--port', port]);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining('--port is') });
  });

  test('refuses a port that is in use', async () => {
    const project = newProject({});
    const { origin } = await served(project);
    const port = new URL(origin).port;
    const { code, stderr } = await command(project, ['serve', '--port', port]);
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: expect.stringContaining(`uses port ${port}`),
    });
  });

  test('kill -9 ends no run, and a second server continues', async () => {
    const project = newProject(FLOWS);
    const [first, second] = [await served(project), await served(project)];
    expect(await first.post('/api/runs', { workflow: 'gate', id: 'g' })).toMatchObject({
      status: 201,
    });
    first.process.child.kill('SIGKILL');
    await first.process.ended;
    expect(await second.get('/api/runs/g')).toMatchObject({ body: { status: 'running' } });
    project.write('go', '');
    await eventually('the run is completed', async () => {
      const { body } = await second.get('/api/runs?status=completed');
      return JSON.stringify(body).includes('"g"');
    });
    second.process.child.kill('SIGINT');
    expect(await second.process.ended).toMatchObject({ code: 0 });
  });
});

describe('runs', () => {
  const project = new Project(FLOWS);
  let server: Served;
  beforeAll(async () => {
    server = await served(project);
    await server.post('/api/runs', { workflow: 'ask', id: 'q', set: { colour: 'red' }, budget: 3 });
    await eventually('it asks', async () => {
      const { body } = await server.get('/api/questions');
      return JSON.stringify(body).includes('which colour?');
    });
  });
  afterAll(() => project.dispose());

  test('a question is listed with its text as it is, answered once, and used', async () => {
    const { body } = await server.get('/api/questions');
    expect(body).toMatchObject({
      questions: [
        {
          run: 'q',
          agent: 'main',
          question: 'which colour? <script>alert(1)</script>',
          answered: false,
          own: true,
        },
      ],
    });
    expect(await server.get('/api/runs/q/forecast')).toMatchObject({
      body: { runs: 0, run: null, rest: { kind: 'unknown', needed: 3 } },
    });
    const answer = (text: string) => server.post('/api/runs/q/answer', { text });
    const both = await Promise.all([answer('blau'), answer('rot')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await eventually('the run is completed', async () => {
      const { body: run } = await server.get('/api/runs/q');
      return JSON.stringify(run).includes('"status":"completed"');
    });
    const run = await server.get('/api/runs/q');
    expect(run.body).toMatchObject({
      metadata: { colour: 'red' },
      budget_usd: 3,
      result: { text: both[0]?.status === 200 ? 'blau' : 'rot', omitted: 0 },
      agents: [{ id: 'main', steps: 2, status: { kind: 'ended' } }],
      states: [{ state: 'START.sh', visits: 1 }, { state: 'NEXT.sh' }],
      counts: { ended: 1, running: 0 },
    });
    expect(await server.get('/api/runs/q/forecast')).toMatchObject({
      body: { runs: 1, rest: null, states: [{ node: 'state:START.sh', runs: 1 }, {}, {}] },
    });
    expect(await server.post('/api/runs/q/answer', { text: 'x' })).toMatchObject({ status: 409 });
  });

  test('a run is stopped, and resumed', async () => {
    await server.post('/api/runs', { workflow: 'gate', id: 's' });
    const stopped = await server.post('/api/runs/s/stop', { now: true });
    expect(stopped).toMatchObject({ status: 202, body: { id: 's' } });
    // Its process releases the run after it has written the end.
    await eventually('it is interrupted', async () => {
      const { body } = await server.get('/api/runs/s');
      const text = JSON.stringify(body);
      return text.includes('"status":"interrupted"') && text.includes('"pid":null');
    });
    expect(await server.post('/api/runs/s/stop', {})).toMatchObject({ status: 409 });
    expect(await server.post('/api/runs/s/resume', {})).toMatchObject({
      status: 200,
      body: { id: 's', status: 'running' },
    });
    expect(await server.post('/api/runs/s/resume', {})).toMatchObject({ status: 409 });
    await server.post('/api/runs/s/stop', { now: true });
  });

  test('lists the workflows of the project, and the usual figures of one', async () => {
    project.write('flows/told/START.md', 'Hello');
    project.write(
      'flows/told/workflow.yaml',
      'name: Told\ndescription: Says hello.\ninput: { label: Whom, default: you }\ndefault_budget: 1.5\n',
    );
    project.write('flows/broken/START.md', '---\nallowed_transitions: 5\n---\nx');
    expect(await server.get('/api/workflows')).toMatchObject({
      body: {
        workflows: [
          { path: 'ask', title: null, states: 2, input: { required: false }, problem: null },
          { path: 'flows/broken', fault: expect.stringContaining('START.md:2'), problem: null },
          {
            ...{ path: 'flows/told', title: 'Told', description: 'Says hello.', budget_usd: 1.5 },
            input: { label: 'Whom', default: 'you', required: false },
          },
          { path: 'gate' },
        ],
        more: false,
      },
    });
    const bound = (path: string) => server.get(`/api/bound?workflow=${encodeURIComponent(path)}`);
    expect(await bound('flows/told')).toMatchObject({
      body: { agents: 1, budget_usd: 1.5, text: expect.stringMatching(/^A run uses at most /) },
    });
    expect(await bound('/etc')).toMatchObject({ status: 403 });
    const forecast = (path: string) =>
      server.get(`/api/forecast?workflow=${encodeURIComponent(path)}`);
    expect(await forecast('ask')).toMatchObject({ body: { runs: 1, needed: 3, run: null } });
    // Only what is listed: a request must not learn what exists elsewhere.
    for (const path of ['', '/etc', '../..', './ask'])
      expect(await forecast(path)).toMatchObject({ status: 404 });
  });

  test('the same id cannot be started twice', async () => {
    const again = await server.post('/api/runs', { workflow: 'ask', id: 'q' });
    expect(again).toMatchObject({ status: 409, body: { error: { remedy: expect.any(String) } } });
  });

  test('a damaged run is listed as such, and does not hide the others', async () => {
    const journal = project.read('.raymond', 'state', 'q.jsonl');
    project.write('.raymond/state/bad.jsonl', journal.replaceAll('"q"', '"bad"'));
    const { body } = await server.get('/api/runs');
    const { runs } = z.parse(
      z.looseObject({ runs: z.array(z.looseObject({ id: z.string() })) }),
      body,
    );
    expect(runs.at(-1)).toMatchObject({
      id: 'bad',
      status: 'damaged',
      problem: { message: expect.any(String), remedy: expect.any(String) },
    });
    expect(runs.map(({ id }) => id)).toContain('q');
    for (const path of ['', '/events', '/graph', '/forecast'])
      expect(await server.get(`/api/runs/bad${path}`)).toMatchObject({ status: 409 });
  });

  test('a run of a stranger is shown, and resumed only with consent', async () => {
    const other = newProject(FLOWS);
    await command(other, ['ask', '--workflow-id', 'theirs']);
    const text = other.read('.raymond', 'state', 'theirs.jsonl');
    const own = newProject(FLOWS);
    own.write('.raymond/state/theirs.jsonl', text);
    const viewer = await served(own);
    expect(await viewer.get('/api/runs/theirs')).toMatchObject({
      status: 200,
      body: { own: false },
    });
    const refused = await viewer.post('/api/runs/theirs/resume', {});
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'foreign-run' } } });
    expect(await viewer.get('/api/runs/theirs')).toMatchObject({ body: { pid: null } });
  });

  test('every answer is as the OpenAPI document says', async () => {
    const document = z.parse(documentSchema, (await server.get('/api/openapi.json')).body);
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    const checked: string[] = [];
    const check = (path: string, method: string, answer: { status: number; body: unknown }) => {
      const content = document.paths[path]?.[method]?.responses[answer.status]?.content;
      const schema = content?.['application/json']?.schema;
      if (!schema) throw new Error(`${method} ${path} has no answer ${answer.status}`);
      const isValid = ajv.compile(schema);
      expect(isValid(answer.body), `${path}: ${JSON.stringify(isValid.errors)}`).toBe(true);
      checked.push(`${method} ${path}`);
    };
    const get = async (path: string, as = path) => {
      const answer = await server.get(path);
      check(as, 'get', answer);
      return answer.body;
    };
    await get('/api/openapi.json');
    await get('/api/runs');
    await get('/api/questions');
    await get('/api/runs/q', '/api/runs/{id}');
    await get('/api/runs/q/graph', '/api/runs/{id}/graph');
    await get('/api/runs/q/forecast', '/api/runs/{id}/forecast');
    await get('/api/runs/q/changes?agent=main&step=1', '/api/runs/{id}/changes');
    await get('/api/runs/q/state?state=START.sh', '/api/runs/{id}/state');
    await get('/api/runs/q/steps/main?after=0', '/api/runs/{id}/steps/{agent}');
    await get('/api/runs/q/steps/main/1', '/api/runs/{id}/steps/{agent}/{n}');
    const context = '/api/runs/{id}/steps/{agent}/{n}/context';
    await command(project, ['not/a/listed/one/plan', '--rehearse', '--workflow-id', 'rehearsed']);
    check(context, 'get', await server.get('/api/runs/rehearsed/steps/main/1/context'));
    expect(await server.get('/api/runs/q/steps/main/1/context')).toMatchObject({ status: 404 });
    await get('/api/runs/q/files', '/api/runs/{id}/files');
    await get('/api/workflows', '/api/workflows');
    await get('/api/triggers');
    await get('/api/forecast?workflow=ask', '/api/forecast');
    await get('/api/bound?workflow=ask&turn=0.5', '/api/bound');
    const run = { workflow: 'ask', id: 'api' };
    check('/api/runs', 'post', await server.post('/api/runs', run));
    await eventually('it asks', async () => {
      const { body } = await server.get('/api/questions');
      return JSON.stringify(body).includes('"api"');
    });
    const id = '/api/runs/{id}';
    check(`${id}/stop`, 'post', await server.post('/api/runs/api/stop', { now: true }));
    await eventually('it has stopped', async () => {
      const { body } = await server.get('/api/runs/api');
      return JSON.stringify(body).includes('"pid":null');
    });
    const said = await server.post('/api/runs/api/say', { text: 'use the old API' });
    check(`${id}/say`, 'post', said);
    expect(said).toMatchObject({ status: 202, body: { agent: 'main', reach: 'saved' } });
    check(`${id}/answer`, 'post', await server.post('/api/runs/api/answer', { text: 'x' }));
    check(`${id}/resume`, 'post', await server.post('/api/runs/api/resume', {}));
    await eventually('it is over', async () => {
      const { body } = await server.get('/api/runs/api');
      const text = JSON.stringify(body);
      return text.includes('"status":"completed"') && text.includes('"pid":null');
    });
    const back = await server.post('/api/runs/api/rewind', { agent: 'main', step: 2 });
    check(`${id}/rewind`, 'post', back);
    expect(back.body).toMatchObject({ agents: ['main'], abandoned: [{ first: 2, last: 2 }] });
    const rewound = await get('/api/runs/api', '/api/runs/{id}');
    expect(rewound).not.toMatchObject({ status: 'completed' });
    expect(rewound).toMatchObject({ rewound: { agent: 'main', step: 2, steps: 1, cost_usd: 0 } });
    check(`${id}/rewind`, 'post', await server.post('/api/runs/api/rewind', { undo: true }));
    expect(await server.get('/api/runs/api')).toMatchObject({
      body: { status: 'completed', rewound: null },
    });
    for (const wrong of [{}, { step: 1, undo: true }, { step: 0 }])
      expect(await server.post('/api/runs/api/rewind', wrong)).toMatchObject({ status: 400 });
    expect(await server.post('/api/runs/api/rewind', { step: 99 })).toMatchObject({ status: 409 });
    const decision = { decision: 'allow' };
    expect(await server.post('/api/runs/api/permission', decision)).toMatchObject({ status: 409 });
    const green = { step: 2, input: ['green'], files: false };
    const begun = await server.post('/api/runs/api/try', green);
    check(`${id}/try`, 'post', begun);
    const [variant] = z.parse(z.object({ variants: z.array(z.string()) }), begun.body).variants;
    await eventually('the variant is over', async () =>
      JSON.stringify(await server.get(`/api/runs/${variant}`)).includes('"status":"completed"'),
    );
    const beside = await get('/api/runs/api/variants', '/api/runs/{id}/variants');
    const figures = { path: ['NEXT'], result: { text: 'green', omitted: 0 } };
    expect(beside).toMatchObject({ id: 'api', moments: [{ step: 2, variants: [figures] }] });
    const outside = { step: 2, files: false, with: ['/etc/hosts'] };
    for (const wrong of [outside, { step: 2, files: false, times: 17 }, { step: 9, files: false }])
      expect((await server.post('/api/runs/api/try', wrong)).status).toBeGreaterThanOrEqual(400);
    const gone = await server.post('/api/runs/api/prune', {});
    check(`${id}/prune`, 'post', gone);
    expect(gone.body).toMatchObject({ id: 'api', removed: true, work: [] });
    expect(await server.get('/api/runs/api')).toMatchObject({ status: 404 });
    expect(await server.post('/api/runs/api/prune', {})).toMatchObject({ status: 404 });
    const json = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.values(responses).some(({ content }) => content?.['application/json'])
          ? [`${method} ${path}`]
          : [],
      ),
    );
    // The scripts of this test ask for no permission, and nothing has come that could be repeated. Another test
    // sends files.
    const others = json.filter((route) => !/\/(permission|replay)$|^post .*\/files$/.test(route));
    const nothing = await server.post('/api/occasions/none/replay', {});
    expect(nothing).toMatchObject({ status: 409 });
    expect(new Set(checked)).toEqual(new Set(others));
    const errors = await server.get('/api/runs/none');
    const failure = ajv.compile(
      document.components.responses.Error?.content?.['application/json']?.schema ?? false,
    );
    expect(failure(errors.body)).toBe(true);
  });
});

const contentSchema = z.optional(
  z.record(z.string(), z.looseObject({ schema: z.optional(z.record(z.string(), z.unknown())) })),
);
const responsesSchema = z.record(z.string(), z.looseObject({ content: contentSchema }));
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: responsesSchema }))),
  components: z.looseObject({ responses: responsesSchema }),
});

async function firstLine(project: Project, args: readonly string[]): Promise<string> {
  const started = project.start(args);
  await eventually('it has printed a line', () => started.stdout().includes('\n'));
  started.child.kill('SIGTERM');
  expect(await started.ended).toMatchObject({ code: 0 });
  return started.stdout();
}
