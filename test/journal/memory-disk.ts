/**
 * A disk in memory. A power cut removes everything that was not synced. The bytes of a file are
 * safe after a sync of the file, and the names in a folder after a sync of the folder. Folders need
 * not be created.
 */
import { basename, dirname } from 'node:path';
import type { Disk, DiskFile, Seen } from '../../src/journal/disk.ts';
import { diskError } from './door.ts';

/** Its content, now and after a power cut. */
interface Content {
  readonly number: number;
  changes: number;
  bytes: Buffer;
  synced: Buffer;
}

let contents = 0;

function contentOf(bytes: Buffer): Content {
  return { number: ++contents, changes: 0, bytes, synced: bytes };
}

export class MemoryDisk implements Disk {
  #names = new Map<string, Content>();
  #syncedNames = new Map<string, Content>();

  /** All files are synced. */
  constructor(files: Readonly<Record<string, Buffer>> = {}) {
    for (const [path, bytes] of Object.entries(files)) {
      const content = contentOf(bytes);
      this.#names.set(path, content);
      this.#syncedNames.set(path, content);
    }
  }

  content(path: string): Buffer | undefined {
    return this.#names.get(path)?.bytes;
  }

  afterPowerCut(): MemoryDisk {
    const left = [...this.#syncedNames].map(([path, { synced }]) => [path, synced]);
    return new MemoryDisk(Object.fromEntries(left));
  }

  async open(path: string, how: 'read' | 'change' | 'create'): Promise<DiskFile> {
    const there = this.#names.get(path);
    if (how === 'create' && there) throw diskError('EEXIST');
    if (how !== 'create' && !there) throw diskError('ENOENT');
    const content = there ?? contentOf(Buffer.alloc(0));
    this.#names.set(path, content);
    return fileOf(content);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#names.set(to, this.#existing(from));
    this.#names.delete(from);
  }

  async link(from: string, to: string): Promise<void> {
    if (this.#names.has(to)) throw diskError('EEXIST');
    this.#names.set(to, this.#existing(from));
  }

  async unlink(path: string): Promise<void> {
    this.#existing(path);
    this.#names.delete(path);
  }

  async mkdir(): Promise<void> {}

  async list(path: string): Promise<string[]> {
    return [...this.#names.keys()]
      .filter((name) => dirname(name) === path)
      .map((name) => basename(name));
  }

  async kind(path: string): Promise<'file' | 'folder' | undefined> {
    if (this.#names.has(path)) return 'file';
    return (await this.list(path)).length > 0 ? 'folder' : undefined;
  }

  async look(path: string): Promise<Seen | undefined> {
    const kind = await this.kind(path);
    const { number = 0, changes = 0 } = this.#names.get(path) ?? {};
    const stamp = kind === 'file' ? `${number} ${changes}` : (await this.list(path)).join();
    const [uid, mode] = [process.getuid?.() ?? 0, 0o700];
    return kind && { kind, uid, mode, device: 0, stamp, changedAt: 0 };
  }

  async chmod(): Promise<void> {}

  async identity(path: string): Promise<string | undefined> {
    const content = this.#names.get(path);
    return content && String(content.number);
  }

  async checkWritable(): Promise<void> {}

  async syncFolder(path: string): Promise<void> {
    for (const name of this.#syncedNames.keys())
      if (dirname(name) === path) this.#syncedNames.delete(name);
    for (const [name, content] of this.#names)
      if (dirname(name) === path) this.#syncedNames.set(name, content);
  }

  #existing(path: string): Content {
    const content = this.#names.get(path);
    if (!content) throw diskError('ENOENT');
    return content;
  }
}

function fileOf(content: Content): DiskFile {
  return {
    identity: async () => String(content.number),
    size: async () => content.bytes.length,
    read: async (into, position) => content.bytes.subarray(position).copy(into),
    async write(bytes, position) {
      const longer = Buffer.alloc(Math.max(content.bytes.length, position + bytes.length));
      content.bytes.copy(longer);
      longer.set(bytes, position);
      content.bytes = longer;
      content.changes += 1;
      return bytes.length;
    },
    async truncate(length) {
      content.bytes = Buffer.from(content.bytes.subarray(0, length));
      content.changes += 1;
    },
    async sync() {
      content.synced = content.bytes;
    },
    close: async () => {},
  };
}
