// Checks everything with one command. The cheap, static checks come first and run together. The build
// follows, because some tests run the same bin/raymond.js as users.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The paths to test; all, if none is named. The tests in `src` need no agent. */
const named = process.argv.slice(2);
const needsAgent = named.length === 0 || named.some((path) => !path.startsWith('src'));

const stages = [
  [
    ['style', 'npm', ['run', '--silent', 'check:style']],
    ['types', 'npm', ['run', '--silent', 'check:types']],
    ['types of the pure folders', 'npm', ['run', '--silent', 'check:pure']],
    ['unused code', 'npm', ['run', '--silent', 'check:unused']],
  ],
  [
    ['build', 'npm', ['run', '--silent', 'build']],
    ...(needsAgent ? [['the real agent', 'node', ['test/real-agent/install.js']]] : []),
  ],
  [['tests', 'npm', ['run', '--silent', 'test:only', '--', ...named]]],
];

for (const stage of stages) {
  const results = await Promise.all(stage.map(run));
  if (results.some((ok) => !ok)) process.exit(1);
}

function run([name, command, args]) {
  const started = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const isTests = name === 'tests';
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      if (isTests) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
      if (code !== 0 && output) console.log(output);
      resolve(code === 0);
    });
  });
}
