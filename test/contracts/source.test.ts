import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { createLibrary } from '../../src/load/load.ts';
import type { Platform, Workflow } from '../../src/model/workflow.ts';
import { resolveState } from '../../src/parse/resolve.ts';
import { writeZip } from '../zip-writer.ts';

/** One kind of source: the same files, stored in another way. */
interface Kind {
  readonly kind: string;
  /** Writes a workflow with the name `flow`; returns its path in the folder. */
  write(folder: string, files: Files): Promise<string>;
}

type Files = Readonly<Record<string, string>>;

const KINDS: readonly Kind[] = [
  {
    kind: 'folder',
    async write(folder, files) {
      await mkdir(join(folder, 'flow'));
      for (const [name, text] of Object.entries(files)) {
        await writeFile(join(folder, 'flow', name), text);
      }
      return 'flow';
    },
  },
  zipKind('flat zip', ''),
  zipKind('zip with a top folder', 'Mein Ablauf/'),
  {
    kind: 'YAML',
    async write(folder, files) {
      await writeFile(join(folder, 'flow.yaml'), toYaml(files));
      return 'flow.yaml';
    },
  },
];

function zipKind(kind: string, top: string): Kind {
  return {
    kind,
    async write(folder, files) {
      const parts = Object.entries(files).map(([name, content]) => ({
        name: top + name,
        content,
        deflate: true,
      }));
      await writeFile(join(folder, 'flow.zip'), writeZip(parts));
      return 'flow.zip';
    },
  };
}

function toYaml(files: Files): string {
  const states = new Map<string, string[]>();
  for (const [file, text] of Object.entries(files)) {
    const [, stem = '', extension = ''] = /^(.*)\.(\w+)$/.exec(file) ?? [];
    const [, front = '', body = ''] = /^(?:---\n(.*?)---\n)?(.*)$/s.exec(text) ?? [];
    const key = extension === 'md' ? 'prompt' : extension;
    const lines = [...front.split('\n'), `${key}: |`, ...body.split('\n').map((l) => `  ${l}`)];
    states.set(stem, [...(states.get(stem) ?? []), ...lines]);
  }
  const written = [...states].map(
    ([stem, lines]) => `  "${stem}":\n${lines.map((line) => `    ${line}`).join('\n')}\n`,
  );
  return `states:\n${written.join('')}`;
}

const FILES: Files = {
  'START.md': `---
model: opus
effort: low
timeout: 30
max_visits: 4
allowed_transitions:
  - { tag: goto, target: CHECK }
  - { tag: call, target: Prüfung neu, return: END.md }
evaluators:
  - { matches: "(?i)unable", then: { tag: result, payload: "no" } }
---
Read {{input}}.

  - indented
Größe: 1
`,
  'END.md': 'End it.\n',
  'Prüfung neu.md': 'Prüfe.\n',
  'CHECK.sh': 'echo "checked $0"\n',
  'CHECK.ps1': 'Write-Output checked\n',
  'ONLY_WINDOWS.bat': '@echo off\n',
};

/** The workflow without the places of its parts. */
function essence({ name, platform, entry, states, about, diagnostics }: Workflow): unknown {
  const text = JSON.stringify(
    { name, platform, entry, states: [...states], about, diagnostics },
    (key, value) => (/^(?:line|column|file|place)$/.test(key) ? undefined : value),
  );
  return JSON.parse(text);
}

describe.each(KINDS)('$kind', ({ write }) => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'raymond source '));
  });
  afterAll(() => rm(root, { recursive: true }));

  let count = 0;
  async function library(files: Files, platform: Platform = 'unix') {
    const cwd = join(root, `Ordner ${count++}`);
    await mkdir(cwd);
    const path = await write(cwd, files);
    const unpackInto = join(cwd, 'run', 'unpacked');
    return {
      cwd,
      path,
      library: createLibrary({ cwd, platform, agents: AGENTS }).unpackingInto(unpackInto),
    };
  }
  async function load(files: Files, platform?: Platform) {
    const made = await library(files, platform);
    return made.library.load(made.path);
  }

  test.each<Platform>(['unix', 'windows'])(
    'gives the same workflow as every other kind on %s',
    async (p) => {
      const folder = await mkdtemp(join(root, 'reference'));
      await KINDS[0]?.write(folder, FILES);
      const reference = createLibrary({ cwd: folder, platform: p, agents: AGENTS });
      const workflow = await load(FILES, p);
      expect(essence(workflow)).toEqual(essence(await reference.load('flow')));
      expect(workflow.states.size).toBe(6);
      expect(workflow.diagnostics).toEqual([]);
    },
  );

  test('a loaded workflow is found by its ref', async () => {
    const { library: books, path, cwd } = await library(FILES);
    expect(books.get(join(cwd, path))).toBeUndefined();
    const workflow = await books.load(path);
    expect(workflow.ref).toBe(join(cwd, path));
    expect(books.get(workflow.ref)).toBe(workflow);
    expect(await books.load(workflow.ref)).toBe(workflow);
    expect(await Promise.all([books.load(path), books.load(`./${path}`)])).toEqual([
      workflow,
      workflow,
    ]);
  });

  test.each([
    ['END', 'END.md'],
    ['END.md', 'END.md'],
    ['CHECK', 'CHECK.sh'],
    ['Prüfung neu', 'Prüfung neu.md'],
  ])('may begin at %s', async (entry, found) => {
    const { library: books, path, cwd } = await library(FILES);
    const workflow = await books.load(`${path}/${entry}`);
    expect(workflow).toMatchObject({ entry: found, ref: join(cwd, path, found) });
    expect(await books.load(`${path}/${found}`)).toBe(workflow);
    expect(books.get(workflow.ref)).toBe(workflow);
  });

  test.each<[Files, Platform, string]>([
    [{ 'A.md': 'x\n' }, 'unix', 'no-entry'],
    [{ 'START.bat': 'x\n' }, 'unix', 'no-entry'],
    [{ 'START.sh': 'x\n' }, 'windows', 'no-entry'],
    [{ 'START.md': 'x\n', '1_START.sh': 'x\n' }, 'unix', 'two-entries'],
    [{ 'START.bat': 'x\n', 'START.ps1': 'x\n' }, 'windows', 'ambiguous-entry'],
  ])('%j cannot begin on %s', async (files, platform, code) => {
    await expect(load(files, platform)).rejects.toMatchObject({ name: 'UserError', code });
  });

  test('resolves names', async () => {
    const workflow = await load(FILES);
    const resolve = (name: string) => {
      const resolved = resolveState(workflow, name);
      return 'found' in resolved ? resolved.found : resolved.problem;
    };
    expect(['CHECK', 'CHECK.ps1', 'ONLY_WINDOWS', 'check', 'END'].map(resolve)).toEqual([
      'CHECK.sh',
      'wrong-platform',
      'wrong-platform',
      'missing',
      'END.md',
    ]);
  });

  test('reports a fault at its place in the author’s file', async () => {
    const files = { 'START.md': '---\neffort: low\nmodel: opsu\n---\nx\n', 'B.md': 'x\n' };
    const { library: books, path, cwd } = await library(files);
    const workflow = await books.load(path);
    const resolved = resolveState(workflow, 'START');
    expect(resolved).toMatchObject({ problem: 'broken' });
    const [fault, ...more] = workflow.diagnostics;
    expect(more).toEqual([]);
    expect(fault).toMatchObject({ code: 'unknown-model', severity: 'error', nearest: 'opus' });
    const text = fault?.file.endsWith('.yaml')
      ? await readFile(join(cwd, fault.file), 'utf8')
      : files['START.md'];
    const line = text.split('\n')[(fault?.line ?? 0) - 1];
    expect(line?.slice((fault?.column ?? 0) - 1)).toBe('opsu');
  });

  test('a prompt begins at its place', async () => {
    const { library: books, path, cwd } = await library(FILES);
    const state = [...(await books.load(path)).states.values()].find((s) => s.name === 'START.md');
    if (state?.kind !== 'prompt') throw new Error('START.md is not a prompt');
    const { file, line, column } = state.place;
    const text = file.endsWith('.yaml')
      ? await readFile(join(cwd, file), 'utf8')
      : (FILES['START.md'] ?? '');
    expect(text.split('\n')[line - 1]?.slice(column - 1)).toBe('Read {{input}}.');
  });

  test.runIf(process.platform !== 'win32')('its scripts can be executed', async () => {
    const { library: books, path } = await library(FILES);
    const { ref } = await books.load(path);
    const folders = await Promise.all([books.scriptFolder(ref), books.scriptFolder(ref)]);
    const script = join(folders[0], 'CHECK.sh');
    expect(folders[1]).toBe(folders[0]);
    expect(execFileSync('/bin/bash', [script], { encoding: 'utf8' })).toBe(`checked ${script}\n`);
  });

  test('a library that has not loaded it finds its scripts', async () => {
    const { library: books, path, cwd } = await library(FILES);
    const folder = await books.scriptFolder(join(cwd, path));
    expect(await readFile(join(folder, 'CHECK.sh'), 'utf8')).toBe(FILES['CHECK.sh']);
  });

  test('paths of other workflows are relative to it', async () => {
    const { library: books, path, cwd } = await library(FILES);
    const { ref } = await books.load(path);
    await mkdir(join(cwd, 'other'));
    await writeFile(join(cwd, 'other', 'START.md'), 'x');
    const way = path === 'flow' ? '../other' : 'other';
    expect((await books.load(way, ref)).ref).toBe(join(cwd, 'other'));
    expect((await books.load(way, join(cwd, path, 'END'))).ref).toBe(join(cwd, 'other'));
  });

  test('can be loaded after it was fixed', async () => {
    const { library: books, path, cwd } = await library({ 'A.md': 'x\n' });
    await expect(books.load(path)).rejects.toMatchObject({ code: 'no-entry' });
    await rm(join(cwd, path), { recursive: true });
    await write(cwd, FILES);
    expect(await books.load(path)).toMatchObject({ entry: 'START.md' });
  });
});
