// Changes the code in many small ways and counts how many changes the tests notice.
// `npm run mutate -- journal [--lines 50] [src/journal/lock.ts …]`
// A whole area takes an hour or two. With --lines, only that many lines are changed, chosen at random.
// StrykerJS is large and only needed here. So it is installed at the first use and is no dependency.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const VERSION = '9.6.1';

/** The files to change, and the tests that must notice. */
const AREAS = {
  interpret: {
    folder: 'src/interpret',
    tests: [
      'src/interpret/**/*.test.ts',
      'test/scenarios/**/*.test.ts',
      'test/properties/**/*.test.ts',
    ],
  },
  journal: {
    folder: 'src/journal',
    tests: ['src/journal/**/*.test.ts', 'test/journal/**/*.test.ts'],
  },
  process: {
    folder: 'src/execute/process',
    tests: ['src/execute/process/**/*.test.ts', 'test/processes/**/*.test.ts'],
    // The changed code is not in dist, which these run.
    exclude: ['script-end', 'disk-use', 'output-of'].map(
      (name) => `test/processes/${name}.test.ts`,
    ),
    // StrykerJS runs tests in threads, which cannot set the umask.
    testNamePattern: '^(?!.*umask is ours)',
  },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { lines: { type: 'string' } },
});
const [name, ...named] = positionals;
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

const files =
  named.length > 0
    ? named
    : readdirSync(join(root, area.folder))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => `${area.folder}/${file}`);
const folder = join(root, 'coverage', 'mutation');
mkdirSync(folder, { recursive: true });
const vitestConfig = join(folder, `${name}.vitest.config.js`);
writeFileSync(
  vitestConfig,
  `export default ${JSON.stringify({ test: { include: area.tests, exclude: area.exclude, testNamePattern: area.testNamePattern, testTimeout: 60_000 } })};\n`,
);
const config = join(folder, `${name}.json`);
writeFileSync(
  config,
  JSON.stringify({
    mutate: values.lines === undefined ? files : someLines(files, Number(values.lines)),
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: vitestConfig, related: true },
    coverageAnalysis: 'perTest',
    // StrykerJS reads this file with the compiler's old interface, which TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    tempDirName: join(folder, 'sandbox'),
    ignorePatterns: ['dist', 'coverage', 'test/real-agent/node_modules'],
    reporters: ['clear-text', 'json'],
    jsonReporter: { fileName: join(folder, `${name}-report.json`) },
    allowEmpty: false,
  }),
);
run('npx', ['stryker', 'run', config]);

/** Lines of the files, chosen at random, in the form that StrykerJS expects for a range. */
function someLines(files, count) {
  const lines = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (/[a-z]/.test(line) ? [`${file}:${index + 1}-${index + 1}`] : [])),
  );
  for (let at = lines.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [lines[at], lines[other]] = [lines[other], lines[at]];
  }
  return lines.slice(0, count);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
