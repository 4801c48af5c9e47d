// A tool call that waits for a decision, through the API. The agent is not real.
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { fakeClaude } from '../real-agent/fake-claude.ts';
import { served } from './served.ts';

const call = (name: string) => ({
  tool_name: 'Bash',
  input: { command: `echo x >>${name}` },
  permission_suggestions: [],
});

const waitingSchema = z.looseObject({
  permissions: z.array(z.looseObject({ request: z.string(), tool: z.string() })),
});

test('a call is shown and allowed, another one is denied, and each is decided once', async () => {
  const claude = await fakeClaude('asks permission', { requests: [call('made'), call('other')] });
  const project = newProject({ 'flow/START.md': 'Work.' });
  const server = await served(project, { ...claude.environment });
  const start = { workflow: 'flow', id: 'p', ask_permissions: true };
  expect(await server.post('/api/runs', start)).toMatchObject({ status: 201 });
  const waiting = async () =>
    z.parse(waitingSchema, (await server.get('/api/questions')).body).permissions;
  const decided = new Set<string>();
  const next = async () => {
    let found: Awaited<ReturnType<typeof waiting>>[number] | undefined;
    await eventually('a call waits', async () => {
      found = (await waiting()).find(({ request }) => !decided.has(request));
      return found !== undefined;
    });
    if (found) decided.add(found.request);
    return found;
  };
  const decide = (body: object) => server.post('/api/runs/p/permission', body);

  const first = await next();
  expect(first).toMatchObject({ run: 'p', agent: 'main', tool: 'Bash', question: false, step: 1 });
  expect((await server.get('/api/runs/p')).body).toMatchObject({
    questions: 1,
    agents: [
      {
        status: {
          kind: 'running',
          requests: expect.arrayContaining([
            expect.objectContaining({ request: first?.request, tool: 'Bash' }),
          ]),
        },
      },
    ],
  });
  expect(await decide({ decision: 'perhaps' })).toMatchObject({ status: 400 });
  expect(await decide({ request: 'none', decision: 'allow' })).toMatchObject({ status: 409 });
  const request = first?.request;
  const both = await Promise.all([
    decide({ request, decision: 'allow' }),
    decide({ request, decision: 'allow' }),
  ]);
  // The second of two equal decisions counts as well if the first one was already used.
  expect(both.map(({ status }) => status).sort()[0]).toBe(200);
  expect(both.find(({ status }) => status === 200)?.body).toEqual({
    ...{ id: 'p', agent: 'main', request, delivered: true },
  });

  await next();
  expect(await decide({ decision: 'deny', message: 'not here' })).toMatchObject({ status: 200 });
  await eventually('the run is over', async () => {
    const { body } = await server.get('/api/runs/p');
    return JSON.stringify(body).includes('"status":"completed"');
  });
  expect(project.lines('made')).toEqual(['x']);
  expect(project.lines('other')).toEqual([]);
  const step = await server.get('/api/runs/p/steps/main/1');
  expect(step).toMatchObject({ status: 200, body: { kind: 'prompt', outcome: { kind: 'ended' } } });
  expect(JSON.stringify(step.body)).toContain('Work.');
});
