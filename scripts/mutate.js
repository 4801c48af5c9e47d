// Changes the code in many small ways and counts how many changes the tests notice:
// npm run mutate -- journal [src/journal/lock.ts …]. StrykerJS is large and only needed here, so it
// is fetched when it is first used and is no dependency.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const VERSION = '9.6.1';

/** What is changed, and the tests that have to notice. */
const AREAS = {
  interpret: {
    mutate: ['src/interpret/*.ts'],
    tests: [
      'src/interpret/**/*.test.ts',
      'test/scenarios/**/*.test.ts',
      'test/properties/**/*.test.ts',
    ],
  },
  journal: {
    mutate: ['src/journal/*.ts'],
    tests: ['src/journal/**/*.test.ts', 'test/journal/**/*.test.ts'],
  },
  process: {
    mutate: ['src/execute/process/*.ts'],
    tests: ['src/execute/process/**/*.test.ts', 'test/processes/**/*.test.ts'],
  },
};

const [name, ...files] = process.argv.slice(2);
const area = AREAS[name];
if (!area) {
  console.error(`Name an area: ${Object.keys(AREAS).join(', ')}.`);
  process.exit(64);
}

const packages = ['core', 'vitest-runner'].map((part) => `@stryker-mutator/${part}`);
if (!packages.every((part) => existsSync(join(root, 'node_modules', part)))) {
  run('npm', [
    'install',
    '--no-save',
    '--no-audit',
    '--no-fund',
    ...packages.map((part) => `${part}@${VERSION}`),
  ]);
}

const folder = join(root, 'coverage', 'mutation');
mkdirSync(folder, { recursive: true });
const vitestConfig = join(folder, `${name}.vitest.config.js`);
writeFileSync(
  vitestConfig,
  `export default ${JSON.stringify({ test: { include: area.tests, testTimeout: 60_000 } })};\n`,
);
const config = join(folder, `${name}.json`);
writeFileSync(
  config,
  JSON.stringify({
    mutate: [...(files.length > 0 ? files : area.mutate), '!src/**/*.test.ts'],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: vitestConfig, related: true },
    coverageAnalysis: 'perTest',
    // It reads this file with the compiler's old interface, which TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    tempDirName: join(folder, 'sandbox'),
    ignorePatterns: ['dist', 'coverage', 'test/real-agent/node_modules'],
    reporters: ['clear-text', 'json'],
    jsonReporter: { fileName: join(folder, `${name}-report.json`) },
    allowEmpty: false,
  }),
);
run('npx', ['stryker', 'run', config]);

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
