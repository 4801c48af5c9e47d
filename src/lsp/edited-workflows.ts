/**
 * The workflows of the open documents. They are read as `raymond lint` reads them, with the texts of the
 * editor in place of those on disk: nothing is executed, and no link is followed out of a workflow.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type EditedWorkflow, editedWorkflow, findingsIn } from '../editing/edited-workflow.ts';
import { readFileWithin } from '../files/regular-file.ts';
import { isEntryName, isWorkflowText } from '../load/find-workflows.ts';
import { readEdited } from '../load/load.ts';
import type { WorkflowLocation } from '../load/locate.ts';
import { MAX_YAML_BYTES } from '../load/yaml-file.ts';
import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { UserError } from '../model/user-error.ts';
import type { Platform } from '../model/workflow.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';
import { decodeUtf8, encodeUtf8 } from '../parse/utf8.ts';
import { type Documents, type FileInEditor, fileOf } from './documents.ts';

export interface OpenWorkflow {
  readonly edited: EditedWorkflow;
  /** Only a check needs them, and they take most of the work. */
  findings(): readonly Diagnostic[];
  readonly location: WorkflowLocation;
  /** The address of one of its files. */
  uriOf(file: string): string;
}

export interface Place extends OpenWorkflow {
  /** The file of the workflow that a document shows. */
  readonly file: string;
}

export class EditedWorkflows {
  readonly #documents: Documents;
  readonly #platform: Platform;
  readonly #agents: () => Promise<Agents>;
  #reading = new Map<string, Promise<OpenWorkflow | undefined>>();
  /** The newest reading of each, for a text that cannot be read at the moment. */
  readonly #before = new Map<string, EditedWorkflow>();

  constructor(documents: Documents, platform: Platform, agents: () => Promise<Agents>) {
    this.#documents = documents;
    this.#platform = platform;
    this.#agents = agents;
  }

  /** A text or a file may have changed. */
  changed(): void {
    this.#reading = new Map();
  }

  /** The workflow of a document; undefined if it belongs to none. */
  async of(uri: string): Promise<Place | undefined> {
    const file = fileOf(uri);
    const location = file && (await this.#locate(file));
    const workflow = location && (await this.at(location));
    return workflow && { ...workflow, file: file?.name ?? '' };
  }

  at(location: WorkflowLocation): Promise<OpenWorkflow | undefined> {
    const known = this.#reading.get(location.path);
    if (known) return known;
    const reading = this.#read(location);
    this.#reading.set(location.path, reading);
    return reading;
  }

  async #read(location: WorkflowLocation): Promise<OpenWorkflow | undefined> {
    const agents = await this.#agents();
    const here = { platform: this.#platform, agents };
    const { kind, path } = location;
    const whole = kind === 'yaml' ? basename(path) : undefined;
    const folder = kind === 'yaml' ? dirname(path) : path;
    const uriOf = (name: string) =>
      this.#documents.uriOf({ path: folder, name, isInArchive: kind === 'zip' });
    try {
      const source = await readEdited(location, agents, this.#documents.unsaved());
      const edited = editedWorkflow(source, whole, here);
      this.#before.set(location.path, edited);
      return { edited, findings: () => findingsIn(edited), location, uriOf };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const before = this.#before.get(location.path);
      const text = this.#documents.unsaved().get(location.path);
      // While someone writes, the states are those of a moment ago.
      const source = { ref: location.ref, name: '', entry: undefined, files: [], about: {} };
      const texts = {
        ...(before?.source ?? { ...source, diagnostics: [] }),
        whole: text ?? encodeUtf8(''),
      };
      return {
        edited: editedWorkflow(texts, whole, here),
        findings: () => [findingOf(error, whole ?? '')],
        ...{ location, uriOf },
      };
    }
  }

  async #locate({ path, name, isInArchive }: FileInEditor): Promise<WorkflowLocation | undefined> {
    if (isInArchive) return { kind: 'zip', path, entry: undefined, ref: path };
    const inFolder = isStateFile(name) || name === MANIFEST;
    if (inFolder && (await this.#isWorkflow(path)))
      return { kind: 'folder', path, entry: undefined, ref: path };
    const isYaml = /\.ya?ml$/i.test(name) && !/(?:^|\.)(?:test|rehearsal)\.ya?ml$/i.test(name);
    const file = join(path, name);
    if (isYaml && isWorkflowText(await this.#textOf(path, name)))
      return { kind: 'yaml', path: file, entry: undefined, ref: file };
    return undefined;
  }

  async #isWorkflow(folder: string): Promise<boolean> {
    const onDisk = await readdir(folder).catch(() => []);
    const open = this.#documents.uris().flatMap((uri) => {
      const file = fileOf(uri);
      return file && !file.isInArchive && file.path === folder ? [file.name] : [];
    });
    const names = [...onDisk, ...open];
    return names.some(isEntryName) || (names.includes(MANIFEST) && names.some(isStateFile));
  }

  async #textOf(folder: string, name: string): Promise<string> {
    const unsaved = this.#documents.unsaved().get(join(folder, name));
    const bytes =
      unsaved ?? (await readFileWithin(folder, name, MAX_YAML_BYTES).catch(() => undefined));
    const decoded = bytes && decodeUtf8(bytes);
    return decoded?.ok ? decoded.text : '';
  }
}

/** Why a workflow cannot be read at all, at the place that the error names. */
function findingOf({ code, message, remedy, place }: UserError, whole: string): Diagnostic {
  const { line = 1, column = 1 } = place ?? {};
  return { severity: 'error', code, file: whole, line, column, message, remedy };
}
