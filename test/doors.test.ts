// Every door offers every verb of the application, or says why not.
import { expect, test } from 'vitest';
import { type DoorName, VERBS } from '../src/app/verbs.ts';
import { program } from '../src/cli/program.ts';
import * as library from '../src/index.ts';
import { TOOLS } from '../src/mcp/tools.ts';
import { ROUTES } from '../src/serve/routes.ts';

const nowhere = () => Promise.reject(new Error('no command is carried out'));
const commands = program(nowhere, async () => {}).commands.map((command) => command.name());

const DOORS: Readonly<Record<DoorName, readonly string[]>> = {
  cli: commands,
  serve: Object.keys(ROUTES),
  mcp: TOOLS.map(({ name }) => name),
  library: Object.keys(library),
};

const offers = Object.entries(VERBS).flatMap(([verb, doors]) =>
  Object.entries(doors).map(([door, offer]) => ({ verb, door, offer })),
);

test.each(offers)('$door offers $verb, or says why not', ({ door, offer }) => {
  const [, names] = Object.entries(DOORS).find(([name]) => name === door) ?? [];
  if (typeof offer === 'string') expect(names).toContain(offer);
  else expect(offer.not).toMatch(/^[A-Z].{20,}\.$/);
});

/** The names that a door offers for some verb. */
const offered = (wanted: DoorName) =>
  offers.flatMap(({ door, offer }) =>
    door === wanted && typeof offer === 'string' ? [offer] : [],
  );

test('what changes a run is a verb of the application, at every door', () => {
  const acting = Object.entries(ROUTES).flatMap(([name, { method }]) =>
    method === 'POST' ? [name] : [],
  );
  expect(acting.filter((name) => !offered('serve').includes(name))).toEqual([]);
  expect(DOORS.mcp.filter((name) => !offered('mcp').includes(name))).toEqual([]);
  const language = ['UserError', 'apply', 'interpret', 'loadWorkflow', 'newRun', 'readTags'];
  const others = DOORS.library.filter((name) => !offered('library').includes(name));
  expect(others.sort()).toEqual(language);
});
