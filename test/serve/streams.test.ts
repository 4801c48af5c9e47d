// The streams of a real server, while a real run writes.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { changed } from '../../src/look/changes.ts';
import { changeList } from '../../src/serve/shapes/changes.ts';
import { eventually } from '../eventually.ts';
import { Project } from '../raymond.ts';
import { type SentEvent, type Served, served } from './served.ts';

/** Counts down from its input. */
const COUNT = [
  'n=$RAYMOND_INPUT',
  'if [ "$n" = 0 ]; then echo "<result>done</result>"; else',
  'echo "<goto input=\\"$((n - 1))\\">START</goto>"; fi',
].join('\n');

const GATE = 'while [ ! -e go ]; do sleep 0.05; done; echo first; echo "<result>ok</result>"';

const project = new Project({
  'count/START.sh': COUNT,
  'gate/START.sh': `echo begun; ${GATE}`,
  'wide/START.sh': `echo '${'<fork>WAIT</fork>'.repeat(19)}<goto>WAIT</goto>'`,
  'wide/WAIT.sh': 'until [ -e open ]; do sleep 0.1; done; echo "<result>ok</result>"',
});
let server: Served;

beforeAll(async () => {
  server = await served(project);
});

afterAll(() => project.dispose());

const batchSchema = z.array(z.looseObject({ seq: z.number(), type: z.string() }));
const seqsIn = ({ event, data }: SentEvent) =>
  event === 'message' ? z.parse(batchSchema, data).map(({ seq }) => seq) : [];

test('connections that break while a run writes lose and repeat nothing', async () => {
  const steps = 150;
  const started = await server.post('/api/runs', { workflow: 'count', id: 'c', input: `${steps}` });
  expect(started).toMatchObject({
    status: 201,
    body: { id: 'c', workflow: project.path('count') },
  });
  // The dice are the same each time; when the connections break depends on the run.
  const [most = 1, ...cuts] = fc.sample(fc.integer({ min: 1, max: 12 }), { numRuns: 200, seed: 7 });
  const seqs: number[] = [];
  let last: string | undefined;
  let connections = 0;
  let isOver = false;
  while (!isOver) {
    let left = cuts[connections++ % cuts.length] ?? most;
    for await (const sent of server.stream('/api/runs/c/events?after=0', last)) {
      seqs.push(...seqsIn(sent));
      last = sent.id ?? last;
      isOver = `${JSON.stringify(sent.data)}`.includes('"run-ended"');
      left -= 1;
      if (isOver || left === 0) break;
    }
  }
  const events = project.journal('c');
  expect(events.length).toBeGreaterThan(3 * steps);
  expect(seqs).toEqual(events.map(({ seq }) => seq));
  expect(connections).toBeGreaterThan(1);
});

test('events come in batches, and after any position the rest follows', async () => {
  const [{ id, data } = {}] = await firstOf(server.stream('/api/runs/c/events?after=0'), 1);
  const all = seqsIn({ event: 'message', id, data });
  expect(id).toBe(`${all.at(-1)}`);
  expect(all.length).toBeGreaterThan(20);
  for (const after of [1, 5, all.length - 1]) {
    const [sent] = await firstOf(server.stream(`/api/runs/c/events?after=${after}`), 1);
    expect(sent && seqsIn(sent)[0]).toBe(after + 1);
  }
  const ahead = await server.get('/api/runs/c/events?after=100000');
  expect(ahead).toMatchObject({ status: 400, body: { error: { code: 'bad-request' } } });
});

test('a run that is read and then followed is complete', async () => {
  await server.post('/api/runs', { workflow: 'gate', id: 'g' });
  const { position } = z.parse(
    z.looseObject({ position: z.number() }),
    (await server.get('/api/runs/g')).body,
  );
  const following = server.stream(`/api/runs/g/events?after=${position}`);
  const seqs: number[] = [];
  project.write('go', '');
  for await (const sent of following) {
    seqs.push(...seqsIn(sent));
    if (JSON.stringify(sent.data).includes('"run-ended"')) break;
  }
  const all = project.journal('g').map(({ seq }) => seq);
  expect(seqs).toEqual(all.filter((seq) => seq > position));
});

test('the changes of a run make what the routes answer, and each part comes once as a whole', async () => {
  await server.post('/api/runs', { workflow: 'wide', id: 'w' });
  let view: unknown = {};
  const wholes: string[] = [];
  const lines: string[] = [];
  for await (const { event, data } of server.stream('/api/changes?run=w')) {
    if (event === 'lines')
      lines.push(...z.parse(z.array(z.looseObject({ text: z.string() })), data).map((l) => l.text));
    if (event !== 'change') continue;
    const changes = z.parse(changeList, data);
    view = changed(view, changes);
    wholes.push(...changes.flatMap(([path]) => (path.length === 1 ? [`${path}`] : [])));
    const { run, forecast, graph } = z.parse(
      z.looseObject({
        graph: z.optional(
          z.looseObject({ nodes: z.array(z.looseObject({ agents: z.array(z.unknown()) })) }),
        ),
        run: z.optional(
          z.looseObject({ status: z.string(), counts: z.looseObject({ running: z.number() }) }),
        ),
        forecast: z.optional(z.looseObject({ rest: z.unknown() })),
      }),
      view,
    );
    if (run?.counts.running === 20) project.write('open', '');
    // The parts of a view may come one after another.
    const isEmpty = graph?.nodes.every(({ agents }) => agents.length === 0);
    if (run?.status === 'completed' && forecast?.rest === null && isEmpty) break;
  }
  const [run, graph, forecast] = await Promise.all(
    ['', '/graph', '/forecast'].map(
      async (route) => (await server.get(`/api/runs/w${route}`)).body,
    ),
  );
  const [{ body: list }, { body: waiting }] = await Promise.all([
    server.get('/api/runs'),
    server.get('/api/questions'),
  ]);
  const { runs } = z.parse(z.object({ runs: z.array(z.looseObject({ id: z.string() })) }), list);
  const rows = Object.fromEntries(runs.map((row) => [row.id, row]));
  const { runs: listed, ...rest } = z.parse(z.looseObject({ runs: z.unknown() }), view);
  expect(rest).toMatchObject({ run, graph, forecast, ...z.parse(z.looseObject({}), waiting) });
  expect(Object.keys(listed as object).sort()).toEqual(Object.keys(rows).sort());
  expect(lines.at(0)).toContain('w starts:');
  expect(lines.at(-1)).toContain('w completed');
  // Nobody waits for the other projects.
  expect(wholes.filter((part) => part === 'projects').length).toBeLessThan(2);
  expect(wholes.filter((part) => part !== 'projects').sort()).toEqual(
    ['project', 'runs', 'questions', 'permissions', 'run', 'graph', 'forecast'].sort(),
  );
  for await (const { event, data } of server.stream('/api/changes?run=nothing')) {
    if (event === 'gone') expect(data).toMatchObject({ error: { code: 'no-run' } });
    if (event === 'gone') break;
  }
});

test('a step is followed while it runs, and after a break', async () => {
  const fresh = new Project({ 'gate/START.sh': `echo begun; ${GATE}` });
  try {
    const own = await served(fresh);
    await own.post('/api/runs', { workflow: 'gate', id: 'l' });
    await eventually('the step runs', () =>
      fresh.journal('l').some(({ type }) => type === 'step-started'),
    );
    const path = '/api/runs/l/steps/main/1';
    const [begun] = await firstOf(own.stream(`${path}/live`), 1);
    expect(begun).toMatchObject({ data: [{ kind: 'stdout', text: 'begun\n', omitted: 0 }] });
    fresh.write('go', '');
    const rest = await firstOf(own.stream(`${path}/live`, begun?.id), 100);
    const texts = rest.flatMap(({ event, data }) =>
      event === 'message' ? z.parse(z.array(z.looseObject({ text: z.string() })), data) : [],
    );
    expect(texts.map(({ text }) => text).join('')).toBe('first\n<result>ok</result>\n');
    expect(rest.at(-1)).toMatchObject({ event: 'outcome', data: { kind: 'ended' } });
    const whole = await own.get(path);
    expect(whole).toMatchObject({
      status: 200,
      body: { kind: 'script', outcome: { followed: ['agent-ended'] }, cursor: 32 },
    });
  } finally {
    await fresh.dispose();
  }
});

test('a client that does not read costs no memory and does not hold up others', async () => {
  const stuck = new AbortController();
  const headers = { authorization: `Bearer ${server.token}` };
  for (let n = 0; n < 20; n++)
    await fetch(`${server.origin}/api/runs/c/events?after=0`, { headers, signal: stuck.signal });
  const [sent] = await firstOf(server.stream('/api/runs/c/events?after=0'), 1);
  expect(sent && seqsIn(sent)[0]).toBe(1);
  stuck.abort();
});

async function firstOf(events: AsyncGenerator<SentEvent>, most: number) {
  const seen: SentEvent[] = [];
  for await (const sent of events) {
    seen.push(sent);
    if (seen.length >= most) break;
  }
  return seen;
}
