import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { writeZip } from '../../test/zip-writer.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { createLibrary } from './load.ts';

let cwd: string;
let library: WorkflowLibrary;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'raymond-load-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  library = newLibrary();
});

function newLibrary(): WorkflowLibrary {
  return createLibrary({ cwd, platform: 'unix', agents: AGENTS }).unpackingInto(
    join(cwd, 'unpacked'),
  );
}

test('the path of a state file starts the workflow of its folder at that state', async () => {
  await writeFile(join(cwd, 'classify.md'), 'x');
  await writeFile(join(cwd, 'OTHER.sh'), 'x');
  const workflow = await library.load('classify.md');
  expect(workflow).toMatchObject({ entry: 'classify.md', ref: join(cwd, 'classify.md') });
  expect([...workflow.states.keys()]).toEqual(['OTHER.sh', 'classify.md']);
  expect(await library.scriptFolder(workflow.ref)).toBe(cwd);
});

test('a folder without states is not a workflow', async () => {
  await mkdir(join(cwd, 'empty'));
  await expect(library.load('empty')).rejects.toMatchObject({
    code: 'no-entry',
    message: 'There is no workflow in empty: it contains no states.',
    remedy: 'Name a folder that contains START.md.',
  });
});

test.each([
  ['states: [', 'bad-yaml', 'w.yaml:1:10: This is not valid YAML'],
  ['name: x', 'bad-yaml', 'w.yaml:1:1: The workflow has no states.'],
  [Buffer.from([0x61, 0xff]), 'not-utf8', 'offset 1'],
  [Buffer.alloc(17 * 1024 * 1024, '#'), 'yaml-too-large', 'larger than 16 MiB'],
])('an unreadable YAML file is rejected (%#)', async (text, code, message) => {
  await writeFile(join(cwd, 'w.yaml'), text);
  await expect(library.load('w.yaml')).rejects.toMatchObject({
    name: 'UserError',
    code,
    message: expect.stringContaining(message),
  });
});

test('a YAML workflow may have a name and a description', async () => {
  const text = 'id: triage\ndescription: Sorts\nstates: {START: {prompt: x}}\nbudget: 1\n';
  await writeFile(join(cwd, 'w.yaml'), text);
  expect(await library.load('w.yaml')).toMatchObject({
    name: 'triage',
    about: { description: 'Sorts' },
    diagnostics: [{ file: 'w.yaml', line: 4, column: 1, code: 'unknown-key' }],
  });
});

test('the file that damages the archive is named', async () => {
  const parts = [{ name: 'START.md', content: 'x', declaredCrc: 7 }];
  await writeFile(join(cwd, 'w.zip'), writeZip(parts));
  await expect(library.load('w.zip')).rejects.toMatchObject({
    code: 'zip-damaged',
    message: expect.stringContaining('START.md in w.zip'),
  });
});

test('an archive is unpacked with the files that its scripts use, and again after it changed', async () => {
  const write = (csv: string) =>
    writeFile(
      join(cwd, 'w.zip'),
      writeZip([{ name: 'START.sh' }, { name: 'table.csv', content: csv }]),
    );
  await write('1;2');
  const folder = await library.scriptFolder(join(cwd, 'w.zip'));
  expect(await readFile(join(folder, 'table.csv'), 'utf8')).toBe('1;2');

  await write('3;4');
  expect(await library.scriptFolder(join(cwd, 'w.zip'))).toBe(folder);
  expect(await readFile(join(folder, 'table.csv'), 'utf8')).toBe('1;2');
  expect(await newLibrary().scriptFolder(join(cwd, 'w.zip'))).toBe(folder);
  expect(await readFile(join(folder, 'table.csv'), 'utf8')).toBe('3;4');
});

test('a run uses one version of a workflow', async () => {
  await writeFile(join(cwd, 'START.md'), 'one');
  const workflow = await library.load('.');
  await writeFile(join(cwd, 'START.md'), 'two');
  expect(await library.load('.')).toBe(workflow);
});

test('a run executes the version that was loaded before the run had a name', async () => {
  await writeFile(join(cwd, 'w.yaml'), 'states: {START: {sh: echo first}}');
  const loose = createLibrary({ cwd, platform: 'unix', agents: AGENTS });
  const { ref } = await loose.load('w.yaml');
  await writeFile(join(cwd, 'w.yaml'), 'states: {START: {sh: echo second}}');
  const named = loose.unpackingInto(join(cwd, 'unpacked'));
  expect(named.get(ref)).toBe(loose.get(ref));
  expect(await readFile(join(await named.scriptFolder(ref), 'START.sh'), 'utf8')).toBe(
    'echo first',
  );
});
