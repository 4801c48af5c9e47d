/**
 * INV-19: No code outside of this folder knows whether a workflow is a folder, an archive or a YAML
 * file.
 */
import { basename, dirname, extname, join, relative } from 'node:path';
import { UnusableFile } from '../files/regular-file.ts';
import type { Agents } from '../model/agent.ts';
import { shellWord } from '../model/shell-word.ts';
import type { Source } from '../model/source.ts';
import { UserError, WorkflowError } from '../model/user-error.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import { parseWorkflow } from '../parse/workflow.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { fingerprints } from './fingerprints.ts';
import { readFolder } from './folder.ts';
import { locate, type WorkflowLocation } from './locate.ts';
import { type Unpacked, unpack } from './unpack.ts';
import { readYamlFile } from './yaml-file.ts';

export interface LibraryOptions {
  /** Paths are relative to it, unless a workflow names them. */
  readonly cwd: string;
  readonly platform: Platform;
  /** The agent that receives the prompts of the workflows. */
  readonly agents: Agents;
}

/** Can load workflows but not execute them. Scripts need a folder, which a run has once it has a name. */
export interface LooseLibrary extends Omit<WorkflowLibrary, 'scriptFolder'> {
  /** This library, with a folder for the scripts of archives and YAML files. */
  unpackingInto(folder: string): WorkflowLibrary;
}

/** Loads each workflow once. A run uses one version of it, even if the files change. */
export function createLibrary(options: LibraryOptions): LooseLibrary {
  const { cwd } = options;
  const loading = new Map<string, Promise<Loaded>>();
  const loaded = new Map<string, Loaded>();

  const loadAt = (location: WorkflowLocation): Promise<Loaded> => {
    const known = loading.get(location.ref);
    if (known) return known;
    const started = loadFrom(location, options).then(
      (result) => {
        // A state may be named with or without its extension.
        const { ref } = result.workflow;
        const first = loaded.get(ref) ?? result;
        loaded.set(location.ref, first).set(ref, first);
        return first;
      },
      (error: unknown) => {
        loading.delete(location.ref);
        throw error;
      },
    );
    loading.set(location.ref, started);
    return started;
  };

  const find = async (ref: string) => loaded.get(ref) ?? loadAt(await locate(ref, cwd));

  const library = {
    get: (ref: string) => loaded.get(ref)?.workflow,
    async load(path: string, from?: string) {
      const base = from === undefined ? cwd : (await find(from)).home;
      return (await loadAt(await locate(path, base))).workflow;
    },
    pathOf: (ref: string, file: string) => loaded.get(ref)?.pathOf(file) ?? file,
    filesOf: (ref: string) => loaded.get(ref)?.files ?? [],
  };
  return {
    ...library,
    unpackingInto: (folder) => ({ ...library, scriptFolder: scriptFolders(find, folder) }),
  };
}

/** Unpacks the scripts of each workflow once, on the first request. */
function scriptFolders(
  find: (ref: string) => Promise<Loaded>,
  folder: string,
): WorkflowLibrary['scriptFolder'] {
  const unpacking = new Map<string, Promise<string>>();
  return async (ref) => {
    const { scripts, home, workflow } = await find(ref);
    if (!scripts) return home;
    const started = unpacking.get(ref) ?? unpack(scripts, folder, workflow.name, ref);
    unpacking.set(ref, started);
    started.catch(() => unpacking.delete(ref));
    return started;
  };
}

interface Loaded {
  readonly workflow: Workflow;
  /** The folder to which the workflow's own paths are relative. */
  readonly home: string;
  /** Files to unpack before a script can run; absent if the scripts are in `home`. */
  readonly scripts: readonly Unpacked[] | undefined;
  /** The files that were read. */
  readonly files: readonly string[];
  pathOf(file: string): string;
}

async function loadFrom(
  location: WorkflowLocation,
  { platform, agents, cwd }: LibraryOptions,
): Promise<Loaded> {
  const source = await readSource(location, agents);
  const read = parseWorkflow(source, platform, agents);
  const pathOf = (file: string) =>
    file === basename(location.path) ? location.path : join(location.path, file);
  if (!read.ok) {
    const diagnostics = read.diagnostics.map((one) => ({ ...one, file: pathOf(one.file) }));
    const remedy = (await workflowsToName(location, read, cwd)) ?? read.remedy;
    throw new WorkflowError({ ...read, remedy }, pathOf(read.file), diagnostics);
  }
  const { entry } = read.workflow;
  const ref = location.entry === undefined ? location.ref : join(location.path, entry);
  const files = fingerprints(source, basename(location.path));
  const workflow = { ...read.workflow, ref, files };
  const isFolder = location.kind === 'folder';
  return {
    workflow,
    home: isFolder ? location.path : dirname(location.path),
    scripts: isFolder ? undefined : unpackable(source),
    files: isFolder ? source.files.map(({ name }) => join(location.path, name)) : [location.path],
    pathOf,
  };
}

/** A remedy for a user who named the folder above the workflows. */
async function workflowsToName(
  { kind, path, entry }: WorkflowLocation,
  { code }: { readonly code: string },
  cwd: string,
): Promise<string | undefined> {
  if (kind !== 'folder' || entry !== undefined || code !== 'no-entry') return undefined;
  const { findWorkflows } = await import('./find-workflows.ts');
  const found = (await findWorkflows(path)).map((name) => relative(cwd, join(path, name)));
  if (found.length === 0) return undefined;
  const rest = found.length - MOST_NAMED;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `Name a workflow in it: ${found.slice(0, MOST_NAMED).map(shellWord).join(', ')}${more}.`;
}

const MOST_NAMED = 10;

async function readSource(
  { kind, path, entry, ref }: WorkflowLocation,
  agents: Agents,
): Promise<Source> {
  const file = basename(path);
  const bare = { ref, entry, about: {}, diagnostics: [] };
  switch (kind) {
    case 'folder':
      // The root of the file system has no name.
      return { ...bare, name: file || path, files: await readable(readFolder(path), path) };
    case 'zip': {
      const { readZip } = await import('./zip.ts');
      const files = await readable(readZip(path, file), path);
      return { ...bare, name: stem(file), files };
    }
    case 'yaml': {
      const read = await readable(readYamlFile(path, agents), path);
      return { ...bare, ...read, name: stem(file) };
    }
  }
}

function stem(file: string): string {
  return basename(file, extname(file));
}

async function readable<T>(reading: Promise<T>, path: string): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    const isUnusable =
      error instanceof UnusableFile || (error instanceof Error && 'syscall' in error);
    if (!isUnusable) throw error;
    throw new UserError(
      'unreadable-workflow',
      `${path} cannot be read: ${error.message}.`,
      'Make sure that you can read it.',
      { file: path },
    );
  }
}

function unpackable(source: Source): readonly Unpacked[] {
  return source.files.flatMap(({ name, content }) => {
    if ('bytes' in content) return [{ name, bytes: content.bytes }];
    if ('state' in content && content.state.kind === 'script') {
      return [{ name, bytes: Buffer.from(content.state.text) }];
    }
    return [];
  });
}
