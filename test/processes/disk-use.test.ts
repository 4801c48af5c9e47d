import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const STEPS = 250;

/** The number of files, and the bytes that they occupy on the disk. */
function usageOf(folder: string): { readonly files: number; readonly bytes: number } {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const found = statSync(join(folder, name));
    return found.isFile() ? Math.max(4096, found.blocks * 512) : 0;
  });
  const files = sizes.filter((bytes) => bytes > 0);
  return { files: files.length, bytes: files.reduce((sum, bytes) => sum + bytes, 0) };
}

test('a long loop of scripts leaves a bounded number of files, and can still be recorded', async () => {
  const project = newProject({
    'loop/START.sh': `
n=$((\${RAYMOND_RESULT:-0} + 1))
if [ $n -lt ${STEPS} ]; then echo "<goto input='$n'>START</goto>"; else echo "<result>$n</result>"; fi`,
  });
  expect(await project.run(['loop', '--workflow-id', 'r', '--quiet'])).toMatchObject({
    code: 0,
    stdout: `${STEPS}\n`,
  });
  const { files, bytes } = usageOf(project.path('.raymond', 'runs', 'r', 'steps'));
  expect(files).toBeLessThanOrEqual(20 * 6 + 1);
  expect(bytes).toBeLessThanOrEqual(20 * 6 * 4096 + STEPS * 1024);
  expect(await command(project, ['show', 'r'])).toMatchObject({ code: 0 });
  expect(await command(project, ['logs', 'r'])).toMatchObject({ code: 0 });

  expect(await command(project, ['test', '--record', 'r'])).toMatchObject({ code: 0 });
  expect(await command(project, ['test', 'loop'])).toMatchObject({ code: 0 });
});
