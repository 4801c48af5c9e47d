import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { desktopNote } from './desktop-note.ts';

const folder = mkdtempSync(join(tmpdir(), 'raymond-note-'));
const program = join(folder, 'notify-send');
writeFileSync(program, '');
chmodSync(program, 0o755);
const decoy = join(folder, 'decoy');
mkdirSync(join(decoy, 'notify-send'), { recursive: true });

test('notify-send gets the text as one argument, without markup', () => {
  const note = desktopNote('linux', `${decoy}:${folder}`);
  expect(note?.('-x <b>$(touch evil)</b> & "y"')).toEqual({
    command: program,
    args: [
      '--app-name',
      'Raymond',
      '--',
      'Raymond',
      '-x &lt;b&gt;$(touch evil)&lt;/b&gt; &amp; "y"',
    ],
  });
});

test('osascript gets the text as an argument of a fixed script', () => {
  const { command, args = [] } = desktopNote('darwin', undefined)?.('" & do shell script "x') ?? {};
  expect(command).toBe('/usr/bin/osascript');
  expect(args.slice(-3)).toEqual(['--', 'Raymond', '" & do shell script "x']);
  expect(args.slice(0, -3).join(' ')).not.toContain('do shell');
});

test.each([undefined, '', decoy, relative(process.cwd(), folder), '.'])(
  'the PATH %j has no program for notes',
  (path) => {
    expect(desktopNote('linux', path)).toBeUndefined();
  },
);
