import { expect, test } from 'vitest';
import { openApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

test('the document has every route, with its parameters', () => {
  const { paths } = openApi('1.2.3');
  expect(Object.keys(paths as object)).toHaveLength(
    new Set(Object.values(ROUTES).map(({ path }) => path)).size,
  );
  expect(paths).toMatchObject({
    '/api/runs': { get: { operationId: 'runs' }, post: { operationId: 'start' } },
    '/api/runs/{id}/steps/{agent}/{n}': {
      get: { parameters: [{ name: 'id' }, { name: 'agent' }, { name: 'n' }] },
    },
  });
});
