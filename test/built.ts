/** Starts the program that users run. Whoever imports this file waits for its build. */
import { join } from 'node:path';
import { DOOR, prepared } from './prepared.ts';

export const BIN = join(import.meta.dirname, 'quick-raymond.cjs');

// The commands of package.json that are no tests build it themselves.
if (process.env[DOOR] !== undefined) await prepared('build');
