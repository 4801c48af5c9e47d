import { type Disk, type DiskFile, realDisk } from '../../src/journal/disk.ts';

export type Operation = Exclude<
  keyof Disk | keyof DiskFile,
  'size' | 'kind' | 'look' | 'list' | 'close'
>;

/** `half` writes only the first half of the bytes. An error with `half` comes after that. */
export type Verdict = { readonly half?: boolean; readonly error?: Error } | undefined;

/** A disk with a guard that counts the operations and may make them fail. */
export function guarded(disk: Disk, guard: (operation: Operation, bytes: number) => Verdict): Disk {
  const check = (operation: Operation, bytes = 0) => {
    const verdict = guard(operation, bytes);
    if (verdict?.error && !verdict.half) throw verdict.error;
    return verdict;
  };
  const guardedFile = (file: DiskFile): DiskFile => ({
    ...file,
    async read(into, position) {
      const got = await file.read(into, position);
      check('read', got);
      return got;
    },
    async write(bytes, position) {
      const verdict = check('write', bytes.length);
      if (!verdict?.half) return file.write(bytes, position);
      const written = await file.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), position);
      if (verdict.error) throw verdict.error;
      return written;
    },
    async truncate(length) {
      check('truncate');
      await file.truncate(length);
    },
    async sync() {
      check('sync');
      await file.sync();
    },
  });
  return {
    kind: (path) => disk.kind(path),
    list: (path) => disk.list(path),
    look: (path) => disk.look(path),
    async identity(path) {
      check('identity');
      return disk.identity(path);
    },
    async open(path, how) {
      check('open');
      return guardedFile(await disk.open(path, how));
    },
    async rename(from, to) {
      check('rename');
      await disk.rename(from, to);
    },
    async link(from, to) {
      check('link');
      await disk.link(from, to);
    },
    async unlink(path) {
      check('unlink');
      await disk.unlink(path);
    },
    async mkdir(path) {
      check('mkdir');
      await disk.mkdir(path);
    },
    async chmod(path, mode) {
      check('chmod');
      await disk.chmod(path, mode);
    },
    async checkWritable(path) {
      check('checkWritable');
      await disk.checkWritable(path);
    },
    async syncFolder(path) {
      check('syncFolder');
      await disk.syncFolder(path);
    },
  };
}

/** The real disk, without the wait for the hardware, which makes a difference only in a power cut. */
export const hastyDisk: Disk = {
  ...realDisk,
  open: async (path, how) => ({ ...(await realDisk.open(path, how)), sync: async () => {} }),
  syncFolder: async (path) => void (await realDisk.list(path)),
};

export function diskError(code: string): Error {
  return Object.assign(new Error(`${code}: made by a test`), { code });
}
