import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A repository in whose configuration everything that git may execute leaves a mark. */
export function armRepository(folder: string, mark: string): void {
  // Git lets a shell split the names of some programs, so the mark has no space in its path.
  const program = `${mark}-program`;
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  const hooks = join(folder, '.git', 'hooks');
  mkdirSync(hooks, { recursive: true });
  for (const name of ['post-checkout', 'post-index-change', 'reference-transaction'])
    if (!existsSync(join(hooks, name))) symlinkSync(program, join(hooks, name));
  const keys = ['core.fsmonitor', 'diff.external', 'diff.evil.textconv', 'core.pager'];
  const filters = ['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process'];
  const hook = ['hook.evil.command', 'gpg.program', 'core.sshCommand'];
  for (const key of [...keys, ...filters, ...hook])
    execFileSync('git', ['config', key, program], { cwd: folder });
  const others = { 'hook.evil.event': 'post-checkout', 'log.showSignature': 'true' };
  for (const [key, value] of Object.entries(others))
    execFileSync('git', ['config', key, value], { cwd: folder });
  execFileSync('git', ['config', 'filter.evil.required', 'true'], { cwd: folder });
  writeFileSync(join(folder, '.gitattributes'), '* filter=evil diff=evil\n');
}
