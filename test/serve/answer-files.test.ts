// Files of questions and answers through the API. Their content and their names are hostile.
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { served } from './served.ts';

const FLOW = {
  'flow/START.sh': `printf '<script>alert(1)</script>' >page.html
printf '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' >plot.svg
printf '\\211PNG\\r\\n\\032\\n<script>' >plot.png
printf 'a\\000b' >raw.bin
echo '<ask next="NEXT" files="page.html,plot.svg,plot.png,raw.bin">Ship?</ask>'`,
  'flow/NEXT.sh': `cat $RAYMOND_ANSWER_FILES >got; ls "$RAYMOND_TASK_FOLDER/answer_files" >names
echo "<result>$RAYMOND_RESULT</result>"`,
};

const questionsSchema = z.looseObject({
  questions: z.array(
    z.looseObject({ files: z.array(z.looseObject({ name: z.string(), sha256: z.string() })) }),
  ),
});
const storedSchema = z.looseObject({ sha256: z.string(), bytes: z.number() });

async function asked(options: readonly string[] = []) {
  const project = newProject(FLOW);
  await command(project, ['flow', '--workflow-id', 'q', ...options]);
  const { origin, token } = await served(project);
  const head = { authorization: `Bearer ${token}`, origin };
  const get = (path: string) => fetch(origin + path, { headers: head });
  const post = (
    path: string,
    body: string | Uint8Array | ReadableStream,
    type = 'application/octet-stream',
  ) =>
    fetch(origin + path, {
      ...{ method: 'POST', headers: { ...head, 'content-type': type }, body },
      // For a body that is a stream.
      ...{ duplex: 'half' },
    });
  const answer = (body: object) =>
    post('/api/runs/q/answer', JSON.stringify(body), 'application/json');
  return { project, get, post, answer };
}

test('what a question shows never acts in a browser', async () => {
  const { get } = await asked();
  const { questions } = z.parse(questionsSchema, await (await get('/api/questions')).json());
  const files = questions.flatMap((one) => one.files);
  expect(files).toHaveLength(4);
  const types = new Map<string, string | null>();
  for (const { name, sha256 } of files) {
    const response = await get(`/api/runs/q/files/${sha256}`);
    types.set(name, response.headers.get('content-type'));
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''${name}`,
    );
    await response.arrayBuffer();
  }
  expect(Object.fromEntries(types)).toEqual({
    'page.html': 'text/plain; charset=utf-8',
    'plot.svg': 'text/plain; charset=utf-8',
    'plot.png': 'image/png',
    'raw.bin': 'application/octet-stream',
  });
  expect(await (await get('/api/runs/q/files')).json()).toMatchObject({ files });
  for (const path of [
    '/api/runs/q/files/ffffffffff',
    '/api/runs/none/files',
    '/api/runs/q/files/..%2Flock',
  ])
    expect((await get(path)).status).toBe(404);
});

test('a file is stored, and the answer names it; its name cannot lead out of the folder', async () => {
  const { project, post, answer } = await asked();
  const sent = await post('/api/runs/q/files', 'the plan\n');
  expect(sent.status).toBe(201);
  const { sha256, bytes } = z.parse(storedSchema, await sent.json());
  expect(bytes).toBe(9);
  expect(
    (await answer({ text: 'yes', files: [{ name: 'x', sha256: 'f'.repeat(64) }] })).status,
  ).toBe(400);
  const files = [{ name: '../../\u202E.bashrc', sha256 }];
  expect(await (await answer({ text: 'yes', files })).json()).toMatchObject({ delivered: false });
  expect((await answer({ text: 'yes', files })).status).toBe(409);
  await command(project, ['resume', 'q']);
  expect([project.read('got'), project.read('names')]).toEqual(['the plan\n', 'bashrc\n']);
});

test('files have a limit, and a run that asks nothing takes none', async () => {
  const { project, post, answer } = await asked(['--max-files-mib', '1']);
  const large = Buffer.alloc(1024 * 1024 + 1);
  expect((await post('/api/runs/q/files', large)).status).toBe(413);
  const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) });
  const refused = await post('/api/runs/q/files', endless).then(
    ({ status }) => status,
    // The server does not wait for the end.
    () => 413,
  );
  expect(refused).toBe(413);
  expect((await post('/api/runs/q/files', '{}', 'application/json')).status).toBe(415);
  const half = z.parse(
    storedSchema,
    await (await post('/api/runs/q/files', Buffer.alloc(600_000))).json(),
  );
  const both = [
    { name: 'a', sha256: half.sha256 },
    { name: 'b', sha256: half.sha256 },
  ];
  expect((await answer({ text: '', files: both })).status).toBe(400);
  expect((await answer({ text: '', files: Array(21).fill(both[0]) })).status).toBe(400);
  expect((await answer({ text: 'yes' })).status).toBe(200);
  await command(project, ['resume', 'q']);
  expect((await post('/api/runs/q/files', 'late')).status).toBe(409);
});
