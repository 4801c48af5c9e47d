// Puts the pinned versions of other agents into node_modules, when they are not there. Only the long
// tests need those in `newer-node`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

install('.');
if (process.env.RAYMOND_TEST_LONG) install('newer-node/');

function install(folder) {
  const here = fileURLToPath(new URL(folder, import.meta.url));
  const pins = Object.entries(readJson('package.json').dependencies);

  if (!pins.every(isInstalled)) {
    console.log('Installing the pinned versions of other agents for the tests.');
    spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: here,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
  }

  const missing = pins.filter((pin) => !isInstalled(pin)).map(([name]) => name);
  if (missing.length > 0) {
    console.error(
      `Other agents could not be installed (${missing.join(', ')}), so the tests with them cannot ` +
        'run. Check the connection to the npm registry and run "node test/other-agents/install.js" again.',
    );
    if (process.env.CI === 'true') process.exitCode = 1;
  }

  function isInstalled([name, version]) {
    return readJson(`node_modules/${name}/package.json`)?.version === version;
  }

  function readJson(path) {
    try {
      return JSON.parse(readFileSync(`${here}/${path}`, 'utf8'));
    } catch {
      return undefined;
    }
  }
}
