/** The names of files that are states. */
import type { StateName } from '../model/state-name.ts';
import type { Interpreter, Platform } from '../model/workflow.ts';

export type Extension = '.md' | '.sh' | '.bat' | '.ps1';

/** In the order of the search. */
export const EXTENSIONS: Readonly<Record<Platform, readonly Extension[]>> = {
  unix: ['.md', '.sh'],
  windows: ['.md', '.ps1', '.bat'],
};

export const INTERPRETERS: Readonly<Record<Exclude<Extension, '.md'>, Interpreter>> = {
  '.sh': 'bash',
  '.bat': 'cmd',
  '.ps1': 'powershell',
};

/** The extension that makes a file a state on some platform. `v1.2` has none. */
export function extensionOf(name: string): Extension | undefined {
  return ALL_EXTENSIONS.find((extension) => name.endsWith(extension));
}

export function stemOf(name: string): string {
  return name.slice(0, name.length - (extensionOf(name)?.length ?? 0));
}

/** Describes a workflow for people. It is not a state. */
export const README = 'README.md';

/** Whether a file of a source is a state: hidden files and other kinds of files are not. */
export function isStateFile(name: string): name is StateName {
  return !name.startsWith('.') && name !== README && extensionOf(name) !== undefined;
}

const ALL_EXTENSIONS: readonly Extension[] = ['.md', '.sh', '.bat', '.ps1'];
