/** The documents that an editor has open, and the files that their addresses name. */
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { encodeUtf8 } from '../parse/utf8.ts';

export interface FileInEditor {
  /** The absolute path of the folder, the archive or the YAML file. */
  readonly path: string;
  /** The name of the file in a folder or an archive. */
  readonly name: string;
  readonly isInArchive: boolean;
}

export class Documents {
  readonly #open = new Map<string, TextDocument>();

  open(uri: string, version: number, text: string): void {
    this.#open.set(uri, TextDocument.create(uri, '', version, text));
  }

  change(uri: string, version: number, changes: Parameters<typeof TextDocument.update>[1]): void {
    const document = this.#open.get(uri);
    if (document) this.#open.set(uri, TextDocument.update(document, changes, version));
  }

  close(uri: string): void {
    this.#open.delete(uri);
  }

  get(uri: string): TextDocument | undefined {
    return this.#open.get(uri);
  }

  uris(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** The address of a file as the editor writes it, or else the usual one. */
  uriOf({ path, name, isInArchive }: FileInEditor): string {
    const open = this.uris().find((uri) => {
      const file = fileOf(uri);
      return file?.path === path && file.name === name && file.isInArchive === isInArchive;
    });
    if (open !== undefined) return open;
    return isInArchive
      ? `zipfile://${encodeURI(path)}::${encodeURI(name)}`
      : pathToFileURL(join(path, name)).href;
  }

  /** The texts of all open files, by their paths. */
  unsaved(): ReadonlyMap<string, Uint8Array> {
    return new Map(
      [...this.#open.values()].flatMap((document) => {
        const file = fileOf(document.uri);
        if (!file || file.isInArchive) return [];
        return [[join(file.path, file.name), encodeUtf8(document.getText())] as const];
      }),
    );
  }
}

/** Undefined for a document that is not in a file of this machine. */
export function fileOf(uri: string): FileInEditor | undefined {
  // The form of Vim and Neovim for a file in an archive.
  const [, archive, inside] = /^zipfile:(?:\/\/)?(\/.*?\.zip)::(.*)$/i.exec(uri) ?? [];
  if (archive !== undefined && inside !== undefined) {
    const path = decoded(archive);
    const name = decoded(inside);
    return path && name ? { path, name: basename(name), isInArchive: true } : undefined;
  }
  if (!/^file:\/\/\//i.test(uri)) return undefined;
  try {
    const path = fileURLToPath(uri);
    return { path: dirname(path), name: basename(path), isInArchive: false };
  } catch {
    return undefined;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
