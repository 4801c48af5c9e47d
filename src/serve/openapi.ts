/** The OpenAPI 3.1 document, made from the table of routes and the schemas that check them. */
import * as z from 'zod/mini';
import { errorBody } from '../look/common.ts';
import { type Answer, ROUTES, type Route } from './routes.ts';

type Json = { readonly [key: string]: unknown };

export function openApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Raymond', version, description: ABOUT },
    servers: [{ url: 'http://127.0.0.1:{port}', variables: { port: { default: '4170' } } }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
      },
      responses: {
        Error: { description: 'The request failed.', content: inJson(schemaOf(errorBody)) },
      },
    },
  };
}

const ABOUT =
  'The API of `raymond serve` for the runs of a project. The query parameter `project` of every route names the folder of another project of the user. Every route needs the token, an exact Host, and for changes an Origin that equals it. Texts come from agents and files: show them as text.';

function operation(name: string, route: Route): Json {
  const { summary, description, query, body, takesFile, path, answer } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, key]) => ({
    ...{ name: key, in: 'path', required: true, schema: { type: 'string' } },
  }));
  const inQuery = Object.entries(query ?? {}).map(([key, meaning]) => ({
    ...{ name: key, in: 'query', description: meaning, schema: { type: 'string' } },
  }));
  const parameters = [...inPath, ...inQuery];
  return {
    operationId: name,
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: inJson(schemaOf(body)) } }),
    ...(takesFile && {
      requestBody: { required: true, content: { 'application/octet-stream': {} } },
    }),
    responses: { ...answerOf(answer), default: { $ref: '#/components/responses/Error' } },
  };
}

function answerOf(answer: Answer): Json {
  switch (answer.kind) {
    case 'json':
      return {
        [answer.status]: { description: 'Done.', content: inJson(schemaOf(answer.shape)) },
      };
    case 'file':
      return { 200: { description: 'The file.', content: { '*/*': {} } } };
    case 'stream':
      return {
        200: {
          description: 'A stream of server-sent events.',
          content: {
            'text/event-stream': {
              schema: { type: 'string' },
              // OpenAPI 3.1 cannot describe the events of a stream, so an extension does.
              'x-events': Object.fromEntries(
                Object.entries(answer.events).map(([event, shape]) => [event, schemaOf(shape)]),
              ),
            },
          },
        },
      };
  }
}

const inJson = (schema: Json): Json => ({ 'application/json': { schema } });

function schemaOf(shape: z.ZodMiniType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    // The pattern of a time has hundreds of characters, and the format says the same.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return schema;
}
