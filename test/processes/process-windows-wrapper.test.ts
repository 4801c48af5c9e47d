// The wrapper for Windows is a Node program, so it can be tested on every platform.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { windowsWrapper } from '../../src/execute/process/windows.ts';
import { makeFolder, steps, text } from './fixtures/steps.ts';

const { folder } = steps();
const echo = ['-e', 'console.log(process.argv.slice(1)); process.exitCode = 5', '--', 'a "b"', ''];

test.each([
  ['the command’s exit', process.execPath, 'go\n', 'exited 5\n', "[ 'a \"b\"', '' ]\n"],
  ['a missing program', '/no/such/program', 'go\n', 'unstarted 127\n', ''],
  ['that Raymond sent no line', process.execPath, '', 'unstarted 0\n', ''],
])('records %s', async (_, command, word, expected, output) => {
  const here = makeFolder(folder());
  const child = spawn(...spawnable(windowsWrapper(process.execPath, here, command, echo)), {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const exit = `${here}/exit-${child.pid}`;
  writeFileSync(exit, '');
  const gate = child.stdio[3];
  if (!(gate instanceof Duplex)) throw new Error('no gate');
  let printed = '';
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  gate.end(word);
  await once(child, 'close');
  expect(text(exit)).toBe(expected);
  expect(printed).toBe(output);
});

function spawnable([program, args]: readonly [string, readonly string[]]) {
  return [program, [...args]] as const;
}
