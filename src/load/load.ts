import { basename, dirname, extname, join } from 'node:path';
import { UnusableFile } from '../files/regular-file.ts';
import type { AgentDeclaration } from '../model/agent.ts';
import type { Source } from '../model/source.ts';
import { UserError, WorkflowError } from '../model/user-error.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import { parseWorkflow } from '../parse/workflow.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { fingerprints } from './fingerprints.ts';
import { readFolder } from './folder.ts';
import { locate, type Place } from './locate.ts';
import { type Unpacked, unpack } from './unpack.ts';
import { readYamlFile } from './yaml-file.ts';

export interface LibraryOptions {
  /** Paths without a workflow to start from are relative to it. */
  readonly cwd: string;
  readonly platform: Platform;
  /** Who takes the prompts of the workflows. */
  readonly agent: AgentDeclaration;
}

/** Enough to look at workflows. To execute them, scripts need a folder, which a run has once it has a name. */
export interface LooseLibrary extends Omit<WorkflowLibrary, 'scriptFolder'> {
  /** This library, with a folder for the scripts of archives and YAML files. */
  unpackingInto(folder: string): WorkflowLibrary;
}

/** Loads each workflow once: a run sees one version of it, whatever happens to the files. */
export function createLibrary(options: LibraryOptions): LooseLibrary {
  const { cwd } = options;
  const loading = new Map<string, Promise<Loaded>>();
  const loaded = new Map<string, Loaded>();

  const loadPlace = (place: Place): Promise<Loaded> => {
    const known = loading.get(place.ref);
    if (known) return known;
    const started = loadFrom(place, options).then(
      (result) => {
        // A state may be named with its extension and without.
        const { ref } = result.workflow;
        const first = loaded.get(ref) ?? result;
        loaded.set(place.ref, first).set(ref, first);
        return first;
      },
      (error: unknown) => {
        loading.delete(place.ref);
        throw error;
      },
    );
    loading.set(place.ref, started);
    return started;
  };

  const find = async (ref: string) => loaded.get(ref) ?? loadPlace(await locate(ref, cwd));

  const library = {
    get: (ref: string) => loaded.get(ref)?.workflow,
    async load(path: string, from?: string) {
      const base = from === undefined ? cwd : (await find(from)).home;
      return (await loadPlace(await locate(path, base))).workflow;
    },
    pathOf: (ref: string, file: string) => loaded.get(ref)?.pathOf(file) ?? file,
    filesOf: (ref: string) => loaded.get(ref)?.files ?? [],
  };
  return {
    ...library,
    unpackingInto: (folder) => ({ ...library, scriptFolder: scriptFolders(find, folder) }),
  };
}

/** Unpacks the scripts of each workflow once, when first asked for. */
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
  /** The folder from which the workflow's own paths start. */
  readonly home: string;
  /** What has to be unpacked before a script can run; absent when the scripts lie in `home`. */
  readonly scripts: readonly Unpacked[] | undefined;
  /** What was read. */
  readonly files: readonly string[];
  pathOf(file: string): string;
}

async function loadFrom(place: Place, { platform, agent }: LibraryOptions): Promise<Loaded> {
  const source = await readSource(place, agent);
  const read = parseWorkflow(source, platform, agent);
  if (!read.ok) {
    throw new WorkflowError(read.code, read.message, read.remedy, read.diagnostics);
  }
  const { entry } = read.workflow;
  const ref = place.entry === undefined ? place.ref : join(place.path, entry);
  const files = fingerprints(source, basename(place.path));
  const workflow = { ...read.workflow, ref, files };
  const isFolder = place.kind === 'folder';
  return {
    workflow,
    home: isFolder ? place.path : dirname(place.path),
    scripts: isFolder ? undefined : unpackable(source),
    files: isFolder ? source.files.map(({ name }) => join(place.path, name)) : [place.path],
    pathOf: (file) => (file === basename(place.path) ? place.path : join(place.path, file)),
  };
}

async function readSource(
  { kind, path, entry, ref }: Place,
  agent: AgentDeclaration,
): Promise<Source> {
  const file = basename(path);
  const bare = { ref, entry, about: {}, diagnostics: [] };
  switch (kind) {
    case 'folder':
      return { ...bare, name: file, files: await readable(readFolder(path), path) };
    case 'zip': {
      const { readZip } = await import('./zip.ts');
      const files = await readable(readZip(path, file), path);
      return { ...bare, name: stem(file), files };
    }
    case 'yaml': {
      const { id = stem(file), ...read } = await readable(readYamlFile(path, agent), path);
      return { ...bare, ...read, name: id };
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
      'See to it that you may read it.',
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
