// Builds the extension for Visual Studio Code and packs it: `node scripts/package-vscode.js [file.vsix]`.
// The packager comes from the npm registry, on the first call. Everything else needs no network.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const extension = join(root, 'editors', 'vscode');
const packager = join(extension, 'node_modules', '@vscode', 'vsce', 'vsce');
const target = resolve(process.argv[2] ?? join(extension, 'raymond-workflows.vsix'));

if (!existsSync(packager)) run('npm', ['ci', '--no-audit', '--no-fund']);

rmSync(join(extension, 'dist'), { recursive: true, force: true });
rmSync(join(extension, 'schemas'), { recursive: true, force: true });
const made = await rolldown({
  cwd: root,
  input: { extension: join(extension, 'src', 'extension.ts') },
  platform: 'node',
  external: ['vscode'],
  transform: { target: 'node20.19' },
});
await made.write({
  dir: join(extension, 'dist'),
  format: 'cjs',
  entryFileNames: '[name].cjs',
  codeSplitting: false,
  minify: true,
});
await made.close();

run(process.execPath, [join(root, 'scripts', 'build.js'), '--if-changed'], root);
cpSync(join(root, 'dist', 'schemas'), join(extension, 'schemas'), { recursive: true });
copyFileSync(join(root, 'LICENSE'), join(extension, 'LICENSE'));
const options = ['--no-dependencies', '--skip-license', '--allow-missing-repository'];
run(process.execPath, [packager, 'package', ...options, '--out', target]);

function run(command, args, cwd = extension) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error || status !== 0) {
    console.error(`${command} ${args.join(' ')} failed.`);
    process.exit(status ?? 1);
  }
}
