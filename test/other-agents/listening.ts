// The ports on which the processes of an agent listen.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Of all processes that have this text in their environment. */
export function portsOf(text: string): readonly number[] {
  const inodes = new Set(processesWith(text).flatMap(socketsOf));
  return [...listening('tcp'), ...listening('tcp6')]
    .filter(({ inode }) => inodes.has(inode))
    .map(({ port }) => port);
}

function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && readIfAny(`/proc/${pid}/environ`).includes(text),
  );
}

function socketsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(linkIfAny(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return [];
  }
}

const LISTEN = '0A';

function listening(protocol: string) {
  const lines = readIfAny(`/proc/net/${protocol}`).split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(':')[1] ?? '', 16);
    return state === LISTEN ? [{ port, inode }] : [];
  });
}

function readIfAny(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function linkIfAny(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
