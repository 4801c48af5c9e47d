// The acts of the commands for programs. `test/serve` and the tests of commands show the rest.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forPrograms } from '../../src/app/for-programs.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { newProject } from '../new-project.ts';
import { FLOWS } from './asking.ts';

async function controlOf() {
  const project = newProject({ ...FLOWS, 'SECRET.sh': 'true' });
  const outside = newProject(FLOWS);
  const control = forPrograms(await surroundings({ cwd: project.folder }));
  return { control, outside, project };
}

const REFUSED: readonly (readonly [what: string, options: object, code: string])[] = [
  ['skipped permissions', { dangerously_skip_permissions: true }, 'usage'],
  ['a mode that a project may not choose', { permission_mode: 'bypassPermissions' }, 'usage'],
  ['a program', { claude_path: '/bin/sh' }, 'usage'],
  ['tools without asking', { allowed_tools: ['Bash'] }, 'usage'],
  ['a variable that steers programs', { set: ['PATH=/tmp'] }, 'usage'],
  ['a file to write', { log_file: '/tmp/x' }, 'usage'],
  ['an option of the terminal', { detach: true }, 'usage'],
  ['an unknown option', { budgets: 1 }, 'usage'],
  ['a wrong type', { budget: '5' }, 'usage'],
];

test.each(REFUSED)('%s is refused, and nothing starts', async (_what, options, code) => {
  const { control } = await controlOf();
  await expect(control.start('ask', { ...options })).rejects.toMatchObject({ code });
});

test('a workflow outside of the project is refused', async () => {
  const { control, outside } = await controlOf();
  for (const path of [outside.path('ask'), join('..', '..', outside.path('ask'))])
    await expect(control.start(path, {})).rejects.toMatchObject({
      code: expect.stringMatching(/outside-project|no-workflow/),
    });
});

test('runs that do not exist are refused', async () => {
  const { control } = await controlOf();
  await expect(control.resume('none', {}, {})).rejects.toMatchObject({ code: 'no-run' });
  await expect(control.stop('none', 'now')).rejects.toMatchObject({ code: 'no-run' });
  await expect(control.answer('none', undefined, 'x')).rejects.toMatchObject({ code: 'no-run' });
});
