// The lockfiles say what is installed, and with which content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.optional(z.string()),
      resolved: z.optional(z.string()),
      link: z.optional(z.boolean()),
    }),
  ),
});

/** Packages for other platforms, whose content no one here could see. */
const UNSEEN = ['darwin-arm64', 'darwin-x64', 'linux-arm64'].map((one) => `opencode-${one}`);

test.each(['.', 'test/other-agents', 'editors/vscode'])(
  'the lockfile in %s has a checksum of everything, and no addresses',
  (folder) => {
    const file = join(import.meta.dirname, '..', folder, 'package-lock.json');
    const { packages } = z.parse(lockSchema, JSON.parse(readFileSync(file, 'utf8')));
    const others = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link);
    const unchecked = others.filter(([, { integrity }]) => integrity === undefined);
    const expected =
      folder !== 'test/other-agents' ? [] : UNSEEN.map((name) => `node_modules/${name}`);
    expect(unchecked.map(([path]) => path)).toEqual(expected);
    expect(others.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  },
);
