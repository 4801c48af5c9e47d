import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { writeZip } from '../../test/zip-writer.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import { packFiles } from '../files/packed-files.ts';
import type { Workflow } from '../model/workflow.ts';
import { createLibrary, type StoredSources } from './load.ts';
import { unpackSource } from './packed-source.ts';

let root: string;
/** Where the run began, and where another machine unpacks its files. */
let project: string;
let elsewhere: string;
let archives: Map<string, Uint8Array>;
let read: Map<string, Workflow>;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'raymond gespeichert ')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  [project, elsewhere] = [join(root, 'Projekt ü'), join(root, 'elsewhere')];
  await mkdir(project);
  archives = new Map();
  read = new Map();
});

const START = '<goto>CHECK</goto>\n';
const CHECK = 'echo "<result>$(cat "$(dirname "$0")/data/words.txt")</result>"\n';

const KINDS = {
  async folder() {
    await mkdir(join(project, 'flow', 'data'), { recursive: true });
    await mkdir(join(project, 'flow', '.git'));
    await writeFile(join(project, 'flow', '.git', 'secret'), 'x');
    await writeFile(join(project, 'flow', 'START.md'), START);
    await writeFile(join(project, 'flow', 'CHECK.sh'), CHECK);
    await writeFile(join(project, 'flow', 'tool'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(project, 'flow', 'data', 'words.txt'), 'words');
    return 'flow';
  },
  async zip() {
    const parts = { 'START.md': START, 'CHECK.sh': CHECK, 'words.txt': 'words' };
    const files = Object.entries(parts).map(([name, content]) => ({ name, content }));
    await writeFile(join(project, 'flow.zip'), writeZip(files));
    return 'flow.zip';
  },
  async yaml() {
    const states = `  START: { prompt: "<goto>CHECK</goto>" }\n  CHECK: { sh: "echo x" }\n`;
    await writeFile(join(project, 'flow.yaml'), `states:\n${states}`);
    return 'flow.yaml';
  },
};

describe.each(Object.entries(KINDS))('a %s', (kind, write) => {
  test('is read from the stored files by a machine that lacks it, with the recorded hashes', async () => {
    const path = await write();
    const began = await store(path);
    await rename(project, `${project} moved`);
    const library = onAnotherMachine();
    const workflow = await library.load(began.ref);
    expect(workflow).toEqual(began);
    const scripts = await library.scriptFolder(began.ref);
    expect(scripts.startsWith(elsewhere)).toBe(true);
    const script = await readFile(join(scripts, 'CHECK.sh'));
    expect(sha256(script)).toBe(began.files?.['CHECK.sh']);
    for (const file of library.filesOf(began.ref)) await stat(file);
    // A state of it, without its extension.
    const state = await library.load(`${join(project, path)}/CHECK`);
    expect(state).toMatchObject({ ref: `${join(project, path)}/CHECK.sh`, entry: 'CHECK.sh' });
  });

  test('is read in place if the files there are the recorded ones', async () => {
    const began = await store(await write());
    const library = onAnotherMachine();
    await library.load(began.ref);
    const [file = ''] = library.filesOf(began.ref);
    expect(file.startsWith(project)).toBe(true);
    expect(kind).toBeDefined();
  });
});

test('other files at the same place are not used', async () => {
  const began = await store(await KINDS.folder());
  await writeFile(join(project, 'flow', 'CHECK.sh'), 'echo "<result>evil</result>"\n');
  const library = onAnotherMachine();
  await library.load(began.ref);
  const script = join(await library.scriptFolder(began.ref), 'CHECK.sh');
  expect(await readFile(script, 'utf8')).toBe(CHECK);
  const folder = await library.scriptFolder(began.ref);
  expect(await readFile(join(folder, 'data', 'words.txt'), 'utf8')).toBe('words');
  expect((await stat(join(folder, 'tool'))).mode & 0o777).toBe(0o700);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await expect(stat(join(folder, '.git'))).rejects.toThrow();
});

test('a workflow that another one names by a relative path is found beside it', async () => {
  await mkdir(join(project, 'other'));
  await writeFile(join(project, 'other', 'START.md'), 'other');
  const began = await store(await KINDS.folder());
  await store('other');
  await rm(project, { recursive: true });
  const library = onAnotherMachine();
  const other = await library.load('../other', began.ref);
  expect(other.ref).toBe(join(project, 'other'));
});

test('an archive with other files than the run has read is refused', async () => {
  const began = await store(await KINDS.folder());
  const files = [{ name: 'START.md', bytes: Buffer.from('evil') }];
  archives.set(began.ref, await packFiles({ note: { kind: 'folder', name: 'flow' }, files }));
  await rm(project, { recursive: true });
  await expect(onAnotherMachine().load(began.ref)).rejects.toMatchObject({
    code: 'changed-workflow',
  });
});

test('a workflow that changes while it is stored is refused', async () => {
  const path = await KINDS.folder();
  const library = createLibrary({ cwd: project, platform: 'unix', agents: AGENTS });
  const { ref } = await library.load(path);
  await writeFile(join(project, 'flow', 'START.md'), 'changed');
  await expect(library.pack(ref)).rejects.toMatchObject({ code: 'changed-workflow' });
});

test('a workflow that cannot be read any more is an error with a remedy', async () => {
  const library = createLibrary({ cwd: project, platform: 'unix', agents: AGENTS });
  const { ref } = await library.load(await KINDS.folder());
  await rm(join(project, 'flow'), { recursive: true });
  await expect(library.pack(ref)).rejects.toMatchObject({ code: 'unreadable-workflow' });
});

test.each(['../out', '/out', 'a/../../out', 'a//b', '', 'a\\b', 'a\0b'])(
  'an archive cannot write %j',
  async (name) => {
    const bytes = Buffer.from('x');
    const asFile = await packFiles({
      note: { kind: 'folder', name: 'f' },
      files: [{ name, bytes }],
    });
    await expect(unpackSource(asFile, elsewhere)).rejects.toThrow('is not a name in a workflow');
    const asName = await packFiles({ note: { kind: 'folder', name }, files: [] });
    await expect(unpackSource(asName, elsewhere)).rejects.toThrow('is not a name in a workflow');
  },
);

const flow = { kind: 'folder', name: 'flow' };

test.each([
  ['the same name twice', ['a', 'a']],
  ['a file in the place of a folder', ['a', 'a/b']],
  ['a folder in the place of a file', ['a/b', 'a']],
  ['a name that is too long', ['x'.repeat(300)]],
  ['too many files', Array.from({ length: 10_001 }, (_, n) => `${n}`)],
])('an archive with %s leaves nothing behind', async (_, names) => {
  const files = names.map((name) => ({ name, bytes: Buffer.from('x') }));
  await expect(unpackSource(await packFiles({ note: flow, files }), elsewhere)).rejects.toThrow();
  expect(await readdir(elsewhere).catch(() => [])).toEqual([]);
});

test('an archive that is much larger than any workflow is not unpacked', async () => {
  const files = [{ name: 'zeros', bytes: Buffer.alloc(129 * 1024 * 1024) }];
  const archive = await packFiles({ note: flow, files });
  expect(archive.length).toBeLessThan(1024 * 1024);
  await expect(unpackSource(archive, elsewhere)).rejects.toMatchObject({
    code: 'ERR_BUFFER_TOO_LARGE',
  });
});

test('a step cannot add a state to the unpacked files, and other files that it leaves stay', async () => {
  const began = await store(await KINDS.folder());
  await rm(project, { recursive: true });
  const library = onAnotherMachine();
  await library.load(began.ref);
  const folder = await library.scriptFolder(began.ref);
  await writeFile(join(folder, 'data', 'cache'), 'x');
  await onAnotherMachine().load(began.ref);
  expect(await readFile(join(folder, 'data', 'cache'), 'utf8')).toBe('x');
  for (const name of ['EVIL.sh', 'workflow.yaml']) {
    await writeFile(join(folder, name), 'echo');
    expect(await onAnotherMachine().load(began.ref)).toEqual(began);
    await expect(stat(join(folder, name))).rejects.toThrow('ENOENT');
  }
});

test('what is no file of a folder is not stored: links that lead out or nowhere, and pipes', async () => {
  const path = await KINDS.folder();
  await symlink('/etc/hostname', join(project, path, 'out'));
  await symlink('nobody@nowhere.123', join(project, path, '.#START.md'));
  await symlink('loop', join(project, path, 'loop'));
  execFileSync('mkfifo', [join(project, path, 'pipe')]);
  const began = await store(path);
  await rm(project, { recursive: true });
  const library = onAnotherMachine();
  await library.load(began.ref);
  expect((await readdir(await library.scriptFolder(began.ref))).sort()).toEqual([
    ...['CHECK.sh', 'START.md', 'data', 'tool'],
  ]);
});

async function store(path: string): Promise<Workflow> {
  const library = createLibrary({ cwd: project, platform: 'unix', agents: AGENTS });
  const workflow = await library.load(path);
  const { container, archive } = await library.pack(workflow.ref);
  expect(basename(container)).toBe(path);
  archives.set(container, archive);
  read.set(workflow.ref, workflow);
  return workflow;
}

function onAnotherMachine() {
  const stored: StoredSources = {
    archive: async (container) => archives.get(container),
    expected: (ref) => read.get(ref)?.files,
    folder: elsewhere,
  };
  const library = createLibrary({ cwd: project, platform: 'unix', agents: AGENTS, stored });
  return library.unpackingInto(join(elsewhere, 'scripts'));
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
