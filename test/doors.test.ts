// Every door offers every verb of the application, or says why not.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ANSWERED } from '../src/acp/server.ts';
import { addCase } from '../src/app/add-case.ts';
import { answer, approve, decide } from '../src/app/answer.ts';
import { answerByCode } from '../src/app/answer-by-code.ts';
import { keepFile } from '../src/app/answer-files.ts';
import { bound } from '../src/app/bound.ts';
import { check } from '../src/app/check.ts';
import { diff } from '../src/app/diff.ts';
import { evaluate } from '../src/app/evaluate.ts';
import { files } from '../src/app/files.ts';
import { inbox } from '../src/app/inbox.ts';
import { list } from '../src/app/list.ts';
import { attend, look } from '../src/app/look.ts';
import { acceptProposal, proposals, propose, rejectProposal } from '../src/app/propose.ts';
import { prune } from '../src/app/prune.ts';
import { replay } from '../src/app/replay.ts';
import { resume } from '../src/app/resume.ts';
import { resumeAll } from '../src/app/resume-all.ts';
import { rewind } from '../src/app/rewind.ts';
import { say } from '../src/app/say.ts';
import { add, update } from '../src/app/shared-workflows.ts';
import { start } from '../src/app/start.ts';
import { stop } from '../src/app/stop.ts';
import { triggers } from '../src/app/triggers.ts';
import { tryVariants, variants } from '../src/app/try-variants.ts';
import { up } from '../src/app/up.ts';
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
  acp: ANSWERED,
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

test('every verb is a function of the application', () => {
  const acting = {
    start,
    resume,
    resumeAll,
    stop,
    answer,
    keepFile,
    decide,
    answerByCode,
    approve,
    say,
    rewind,
    tryVariants,
    evaluate,
    addCase,
    prune,
    add,
    update,
    up,
    replay,
    propose,
    acceptProposal,
    rejectProposal,
  };
  const looking = {
    attend,
    list,
    inbox,
    triggers,
    variants,
    look,
    diff,
    bound,
    check,
    proposals,
    files,
  };
  expect(Object.keys({ ...acting, ...looking })).toEqual(Object.keys(VERBS));
});

test.each([
  ['mcp', /store\b|openRun|allRuns/],
  ['acp', /store\b|openRun|allRuns/],
  ['serve', /\.survey\(|openRun|allRuns/],
  ['library.ts', /\.survey\(|\.look\(|allRuns/],
])('%s looks at runs through the verbs', (place, itself) => {
  const path = fileURLToPath(new URL(`../src/${place}`, import.meta.url));
  const files = statSync(path).isFile()
    ? [path]
    : readdirSync(path).map((name) => join(path, name));
  const looking = files.filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && itself.test(readFileSync(file, 'utf8')),
  );
  expect(looking).toEqual([]);
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
