import { linux } from './linux.ts';
import { macos } from './macos.ts';
import type { ProcessSystem } from './process-entry.ts';
import { windows } from './windows.ts';

/** The process table of this machine. */
export const system: ProcessSystem = systemOf(process.platform);

function systemOf(platform: NodeJS.Platform): ProcessSystem {
  if (platform === 'win32') return windows;
  return platform === 'linux' ? linux : macos;
}
