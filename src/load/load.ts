/**
 * INV-19: No code outside of this folder knows whether a workflow is a folder, an archive or a YAML
 * file.
 */
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import type { NamedBytes } from '../files/packed-files.ts';
import { UnusableFile } from '../files/regular-file.ts';
import type { Agents } from '../model/agent.ts';
import { shellWord } from '../model/shell-word.ts';
import type { Source, SourceFile } from '../model/source.ts';
import { UserError, WorkflowError } from '../model/user-error.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import { changedFiles, type WorkflowFiles } from '../model/workflow-files.ts';
import { EXTENSIONS, isStateFile } from '../parse/state.ts';
import { parseWorkflow } from '../parse/workflow.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { fingerprints, hasOwn, sha256 } from './fingerprints.ts';
import { readFolder } from './folder.ts';
import { locate, type WorkflowLocation } from './locate.ts';
import { unpack } from './unpack.ts';
import { readYamlFile } from './yaml-file.ts';

interface LibraryOptions {
  /** Paths are relative to this folder, unless a workflow names them. */
  readonly cwd: string;
  readonly platform: Platform;
  /** The agent that receives the prompts of the workflows. */
  readonly agents: Agents;
  /** The stored files of the run's workflows, for a machine that may lack them. */
  readonly stored?: StoredSources;
  /** The path on this machine of a path that a ref names; absent if both are the same. */
  readonly toLocal?: (path: string) => string;
}

export interface StoredSources {
  /** The archive of a workflow, by the path that contains its states. */
  archive(container: string): Promise<Uint8Array | undefined>;
  /** The files that the run has read, by the ref of the workflow. */
  expected(ref: string): WorkflowFiles | undefined;
  /** Where archives are unpacked. */
  readonly folder: string;
}

/** Can load workflows but not execute them. Scripts need a folder, which a run has once it has a name. */
export interface LooseLibrary extends Omit<WorkflowLibrary, 'scriptFolder'> {
  /** This library, with a folder for the scripts of archives and YAML files. */
  unpackingInto(folder: string): WorkflowLibrary;
  /** All files of a loaded workflow. Throws a UserError if they have changed since then. */
  pack(ref: string): Promise<PackedWorkflow>;
  /**
   * The same with other files in place of its own, or in addition, and what a run reads from it. Throws a
   * UserError for an archive or a YAML file.
   */
  packWith(
    ref: string,
    files: readonly NamedBytes[],
  ): Promise<PackedWorkflow & { readonly files: WorkflowFiles }>;
}

interface PackedWorkflow {
  /** The folder or file that contains the workflow. Several refs may be states of it. */
  readonly container: string;
  readonly archive: Uint8Array;
}

/** Loads each workflow once. A run uses one version of it, even if the files change. */
export function createLibrary(options: LibraryOptions): LooseLibrary {
  const { cwd } = options;
  const loading = new Map<string, Promise<Loaded>>();
  const loaded = new Map<string, Loaded>();

  const loadAt = (path: string, base: string): Promise<Loaded> => {
    const named = resolve(base, path);
    const known = loading.get(named);
    if (known) return known;
    const started = loadHere(path, base, options).then(
      (result) => {
        // A state may be named with or without its extension.
        const { ref } = result.workflow;
        const first = loaded.get(ref) ?? result;
        loaded.set(named, first).set(ref, first);
        return first;
      },
      (error: unknown) => {
        loading.delete(named);
        throw error;
      },
    );
    loading.set(named, started);
    return started;
  };

  const find = async (ref: string) => loaded.get(ref) ?? loadAt(ref, cwd);

  const library = {
    get: (ref: string) => loaded.get(ref)?.workflow,
    async load(path: string, from?: string) {
      if (from !== undefined) return (await loadAt(path, (await find(from)).home)).workflow;
      // Only a person names a workflow without its folder.
      const byName = async (error: unknown) => {
        const { workflowNamed } = await import('./find-workflows.ts');
        return loadAt(await workflowNamed(path, cwd, error), cwd);
      };
      return (await loadAt(path, cwd).catch(byName)).workflow;
    },
    pathOf: (ref: string, file: string) => loaded.get(ref)?.pathOf(file) ?? file,
    filesOf: (ref: string, states?: ReadonlySet<string>) => {
      const files = loaded.get(ref)?.files ?? [];
      const isOther = (name: string) => states && isStateFile(name) && !states.has(name);
      return files.filter((file) => !isOther(basename(file)));
    },
  };
  return {
    ...library,
    pack: async (ref) => packed(await find(ref), options),
    packWith: async (ref, files) => packedWith(await find(ref), files),
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
    const { scripts, location, workflow } = await find(ref);
    if (!scripts) return location.path;
    const started = unpacking.get(ref) ?? unpack(scripts, folder, workflow.name, ref);
    unpacking.set(ref, started);
    started.catch(() => unpacking.delete(ref));
    return started;
  };
}

interface Loaded {
  readonly workflow: Workflow;
  readonly location: WorkflowLocation;
  /** The folder or file that contains the states, as the refs name it. */
  readonly container: string;
  /** The folder to which the workflow's own paths are relative. */
  readonly home: string;
  /** Files to unpack before a script can run; absent if the scripts are in `home`. */
  readonly scripts: readonly NamedBytes[] | undefined;
  /** The files that were read. */
  readonly files: readonly string[];
  pathOf(file: string): string;
}

/**
 * Loads a workflow from where its path says, or from the stored files of the run if those here are
 * missing or different.
 */
async function loadHere(path: string, base: string, options: LibraryOptions): Promise<Loaded> {
  const { stored, toLocal } = options;
  const inPlace = async () => {
    const ref = resolve(base, path);
    const here = toLocal?.(ref) ?? ref;
    const location = await locate(here === ref ? path : here, base);
    return loadFrom({ ...location, ref }, options);
  };
  if (!stored) return inPlace();
  const isExpected = ({ workflow }: Loaded) => {
    const read = stored.expected(workflow.ref);
    return read === undefined || isSame(read, workflow.files ?? {});
  };
  const here = await inPlace().catch((error: unknown) => {
    if (error instanceof UserError) return error;
    throw error;
  });
  if (!(here instanceof UserError) && isExpected(here)) return here;
  const ref = resolve(base, path);
  const location = await storedLocation(ref, stored);
  if (!location) {
    if (here instanceof UserError) throw here;
    throw changed(here.workflow.ref);
  }
  const kept = await loadFrom(location, options);
  if (isExpected(kept)) return kept;
  throw changed(kept.workflow.ref);
}

async function storedLocation(
  ref: string,
  { archive, folder }: StoredSources,
): Promise<WorkflowLocation | undefined> {
  const { unpackSource } = await import('./packed-source.ts');
  const ofWhole = await archive(ref);
  if (ofWhole) return { ...(await locate(await unpackSource(ofWhole, folder), '/')), ref };
  const ofState = await archive(dirname(ref));
  if (!ofState) return undefined;
  const container = await unpackSource(ofState, folder);
  return { ...(await locate(join(container, basename(ref)), '/')), ref };
}

function isSame(read: WorkflowFiles, now: WorkflowFiles): boolean {
  return (
    Object.keys(read).length === Object.keys(now).length && changedFiles(read, now).length === 0
  );
}

function changed(ref: string): UserError {
  return new UserError(
    'changed-workflow',
    `The files of ${ref} differ from those that the run has read.`,
    'Restore them, or start a new run.',
  );
}

async function packed(
  { location, container, workflow }: Loaded,
  { agents }: LibraryOptions,
): Promise<PackedWorkflow> {
  const { packSource } = await import('./packed-source.ts');
  const archive = await readable(packSource(location), location.path);
  const now = fingerprints(await readSource(location, agents), basename(container));
  if (!isSame(workflow.files ?? {}, now)) throw changed(workflow.ref);
  return { container, archive };
}

async function packedWith(
  { location, container, workflow }: Loaded,
  files: readonly NamedBytes[],
): Promise<PackedWorkflow & { readonly files: WorkflowFiles }> {
  if (location.kind !== 'folder')
    throw new UserError(
      'not-a-folder',
      `The states of ${location.path} are in one file, so none of them can be replaced for a variant.`,
      `Convert the workflow to a folder: raymond convert ${shellWord(location.path)} FOLDER`,
    );
  const { packSource } = await import('./packed-source.ts');
  const archive = await readable(packSource(location, files), location.path);
  const own = files.map(({ name, bytes }) => [name, sha256(bytes)] as const);
  return { container, archive, files: { ...workflow.files, ...Object.fromEntries(own) } };
}

async function loadFrom(location: WorkflowLocation, options: LibraryOptions): Promise<Loaded> {
  const { platform, agents } = options;
  const source = await readSource(location, agents);
  const read = parseWorkflow(source, platform, agents);
  const pathOf = (file: string) =>
    file === basename(location.path) ? location.path : join(location.path, file);
  if (!read.ok) {
    const diagnostics = read.diagnostics.map((one) => ({ ...one, file: pathOf(one.file) }));
    const remedy = (await workflowsToName(location, read, options)) ?? read.remedy;
    throw new WorkflowError({ ...read, remedy }, pathOf(read.file), diagnostics);
  }
  const { entry } = read.workflow;
  // The files may be somewhere else than the ref says.
  const container = location.entry === undefined ? location.ref : dirname(location.ref);
  const ref = location.entry === undefined ? location.ref : join(container, entry);
  const files = fingerprints(source, basename(container));
  const workflow = { ...read.workflow, ref, files };
  const isFolder = location.kind === 'folder';
  return {
    workflow,
    location,
    container,
    home: isFolder ? container : dirname(container),
    scripts: isFolder ? undefined : unpackable(source),
    files: isFolder ? source.files.map(({ name }) => join(location.path, name)) : [location.path],
    pathOf,
  };
}

/** A remedy for a user who named the folder above the workflows, or whose entry is no state. */
async function workflowsToName(
  { kind, path, entry }: WorkflowLocation,
  { code }: { readonly code: string },
  { cwd, platform }: LibraryOptions,
): Promise<string | undefined> {
  if (kind !== 'folder' || entry !== undefined || code !== 'no-entry') return undefined;
  const { findWorkflows, unusableEntry } = await import('./find-workflows.ts');
  const unusable = await unusableEntry(path);
  if (unusable !== undefined)
    return `${unusable} is not a state, because its name does not end in ${EXTENSIONS[platform].join(' or ')}. Call it from a script, such as START.sh.`;
  const found = (await findWorkflows(path)).map((name) => relative(cwd, join(path, name)));
  if (found.length === 0) return undefined;
  const rest = found.length - MOST_NAMED;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `Name a workflow in it: ${found.slice(0, MOST_NAMED).map(shellWord).join(', ')}${more}.`;
}

const MOST_NAMED = 10;

/** The files of a workflow, with the texts of an editor in place of those on disk. */
export function readEdited(
  location: WorkflowLocation,
  agents: Agents,
  unsaved: Unsaved,
): Promise<Source> {
  return readSource(location, agents, unsaved);
}

/** Texts that are not on disk yet, by their absolute paths. */
export type Unsaved = ReadonlyMap<string, Uint8Array>;

async function readSource(
  { kind, path, entry, ref }: WorkflowLocation,
  agents: Agents,
  unsaved: Unsaved = new Map(),
): Promise<Source> {
  const file = basename(path);
  const bare = { ref, entry, about: {}, diagnostics: [] };
  switch (kind) {
    case 'folder':
      // The root of the file system has no name.
      return {
        ...{ ...bare, name: file || path },
        files: overlaid(await readable(readFolder(path), path), path, unsaved),
      };
    case 'zip': {
      const { readZip } = await import('./zip.ts');
      const files = await readable(readZip(path, file), path);
      return { ...bare, name: stem(file), files };
    }
    case 'yaml': {
      const read = await readable(readYamlFile(path, agents, unsaved.get(path)), path);
      return { ...bare, ...read, name: stem(file) };
    }
  }
}

/** A file that cannot be used stays so, whatever an editor shows of it. */
function overlaid(
  files: readonly SourceFile[],
  folder: string,
  unsaved: Unsaved,
): readonly SourceFile[] {
  if (unsaved.size === 0) return files;
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const [path, bytes] of unsaved) {
    const name = basename(path);
    const onDisk = byName.get(name)?.content;
    const isUsed = dirname(path) === folder && hasOwn(name) && (!onDisk || 'bytes' in onDisk);
    if (isUsed) byName.set(name, { name, content: { bytes } });
  }
  return [...byName.values()];
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

function unpackable(source: Source): readonly NamedBytes[] {
  return source.files.flatMap(({ name, content }) => {
    if ('bytes' in content) return [{ name, bytes: content.bytes }];
    if ('state' in content && content.state.kind === 'script') {
      return [{ name, bytes: Buffer.from(content.state.text) }];
    }
    return [];
  });
}
