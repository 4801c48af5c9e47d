/** The router: one check, then the routes of the table, then the files of the page. */
import { Hono } from 'hono';
import { safeName } from '../model/kept-file.ts';
import { UserError } from '../model/user-error.ts';
import type { Answers, Asked, Reply, ServeParts } from './answers.ts';
import { bodyOf, fileOf } from './body.ts';
import { type Gate, PUBLIC_FILES, refusalOf } from './gate.ts';
import { HEADERS } from './headers.ts';
import { packed, packer, takesGzip } from './packed.ts';
import { errorBodyOf, notFound, RequestError, statusOf } from './problems.ts';
import { type OtherProjects, Projects } from './projects.ts';
import { ROUTES, type Route, type RouteName } from './routes.ts';
import { Streams } from './sse.ts';

export interface App {
  readonly hono: Hono;
  /** Ends all streams. */
  close(): void;
}

export function appFor(parts: ServeParts, gate: Gate, others?: OtherProjects): App {
  const hono = new Hono();
  const streams = new Streams(MOST_STREAMS, STALL_MS);
  const projects = new Projects(parts, others);
  hono.use('*', async (context, next) => {
    const { req } = context;
    const refusal = refusalOf(gate, {
      method: req.method,
      path: req.path,
      host: req.header('host'),
      origin: req.header('origin'),
      site: req.header('sec-fetch-site'),
      authorization: req.header('authorization'),
    });
    if (refusal) {
      const { status, ...error } = refusal;
      context.res = Response.json({ error }, { status });
    } else {
      await next();
    }
    if (req.method === 'GET' && !isStream(context.res)) {
      const [accepted, known] = [req.header('accept-encoding'), req.header('if-none-match')];
      context.res = await packed(context.res, { accepted, known });
    }
    for (const [name, value] of HEADERS) context.res.headers.set(name, value);
    if (context.res.headers.has('content-disposition'))
      context.res.headers.set('content-security-policy', "default-src 'none'; sandbox");
    // The files of the page have no data. A browser may keep them, and asks whether they have changed.
    if (!refusal && Object.hasOwn(PUBLIC_FILES, req.path))
      context.res.headers.set('cache-control', 'no-cache');
  });
  for (const [name, route] of Object.entries<Route>(ROUTES))
    hono.on(route.method, route.path, async ({ req }) => {
      const body = route.body && (await bodyOf(req.raw, route.body));
      const file = route.takesFile && fileOf(req.raw);
      const { of } = await projects.answersOf(req.query('project') || undefined);
      const reply = of[name as RouteName];
      return responseOf(route, reply, takesGzip(req.header('accept-encoding')), streams, {
        ...{ params: req.param(), query: req.query(), body },
        lastEventId: req.header('last-event-id'),
        file,
      });
    });
  for (const [path, file] of Object.entries(PUBLIC_FILES))
    hono.get(path, async () => {
      const text = await parts.page(file);
      if (text === undefined) throw notFound('The page is not built.', 'Run: npm run build');
      return new Response(text, { headers: { 'content-type': typeOf(file) } });
    });
  hono.notFound(() => problem(notFound('There is no such route.', 'See /api/openapi.json.')));
  hono.onError((error) => {
    if (error instanceof UserError) return problem(error);
    parts.report(error);
    return problem(BUG);
  });
  return {
    hono,
    close() {
      streams.close();
      projects.close();
    },
  };
}

const MOST_STREAMS = 100;
/** A client that has not read for so long is gone, or does not want to read. */
const STALL_MS = 120_000;

const BUG = new RequestError(
  500,
  'bug',
  'Raymond failed to answer. The standard error of raymond serve has the details.',
  'Try again, and report it if it happens again.',
);

const problem = (error: UserError) =>
  Response.json(errorBodyOf(error), { status: statusOf(error) });

const typeOf = (file: string) =>
  `${TYPES[/\.\w+$/.exec(file)?.[0] ?? ''] ?? 'text/plain'}; charset=utf-8`;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

async function responseOf(
  { answer }: Route,
  reply: Answers['of'][RouteName],
  isPacked: boolean,
  streams: Streams,
  asked: Asked,
): Promise<Response> {
  if (answer.kind === 'stream' && streams.isFull) throw TOO_MANY;
  const made = await reply(asked);
  switch (made.kind) {
    case 'body': {
      const shape = answer.kind === 'json' ? answer : undefined;
      const headers = made.location === undefined ? {} : { location: made.location };
      return Response.json(shape?.shape.parse(made.body), {
        status: shape?.status ?? 200,
        headers,
      });
    }
    case 'file':
      return new Response(new Uint8Array(made.content), { headers: fileHeaders(made) });
    case 'stream':
      return new Response(streams.open(made.source, isPacked ? packer() : undefined), {
        headers: { 'content-type': STREAM, ...(isPacked && { 'content-encoding': 'gzip' }) },
      });
  }
}

/** Never a document: the content decides, and the name only says how the file is saved. */
function fileHeaders({ name, type }: Extract<Reply, { kind: 'file' }>) {
  const saved = encodeURIComponent(safeName(name)).replaceAll("'", '%27');
  return {
    'content-type': type,
    'content-disposition': `attachment; filename*=UTF-8''${saved}`,
  };
}

const STREAM = 'text/event-stream; charset=utf-8';
const isStream = ({ headers }: Response) => headers.get('content-type') === STREAM;

const TOO_MANY = new RequestError(
  503,
  'too-many-streams',
  'Too many streams are open.',
  'Close other pages of this server.',
);
