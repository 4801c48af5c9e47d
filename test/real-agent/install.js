// Puts the pinned versions of Claude Code into this folder's node_modules, when they are not there.
// They are several hundred megabytes, so a complete installation is left alone.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const ages = ['older', 'newer'];
const pins = readJson('package.json').optionalDependencies;

if (!ages.every(isInstalled)) {
  console.log('Installing the pinned versions of Claude Code for the tests with the real agent.');
  spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

const missing = ages.filter((age) => !isInstalled(age));
if (missing.length > 0) {
  console.error(
    `Claude Code could not be installed for ${platform()} (${missing.join(', ')}), so the tests ` +
      'with the real agent cannot run. Check the connection to the npm registry and run ' +
      '"node test/real-agent/install.js" again.',
  );
  if (process.env.CI === 'true') process.exitCode = 1;
}

function isInstalled(age) {
  const name = `claude-${age}-${platform()}`;
  const installed = readJson(`node_modules/${name}/package.json`);
  return installed !== undefined && pins[name]?.endsWith(`@${installed.version}`) === true;
}

function platform() {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === 'linux' && !hasGlibc() ? `${name}-musl` : name;
}

function hasGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(`${here}/${path}`, 'utf8'));
  } catch {
    return undefined;
  }
}
