/** The person's own editor, for a long answer. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../../journal/disk-errors.ts';
import { decodeUtf8 } from '../../parse/utf8.ts';
import { lendTerminal } from './terminal.ts';

export type Edited =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

export async function editedOutside(text: string): Promise<Edited> {
  const { VISUAL, EDITOR } = process.env;
  const editor = VISUAL || EDITOR || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'raymond-answer-'));
  try {
    const file = join(folder, 'answer.md');
    await writeFile(file, text, { mode: 0o600 });
    const code = await lendTerminal(() => exitOf(editor, file));
    if (code !== 0) return failed(`the editor (${editor}) ended with ${code}`);
    const decoded = decodeUtf8(await readFile(file));
    if (!decoded.ok) return failed('it is not UTF-8');
    // Most editors end the last line with a line break.
    return { ok: true, text: decoded.text.replace(/\r?\n$/, '') };
  } catch (error) {
    return failed(reasonOf(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The variable may contain options, so a shell reads it, as for git. */
async function exitOf(editor: string, file: string): Promise<number | string> {
  // What starts processes takes a tenth of the start of commands that start none.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
}

const failed = (why: string): Edited => ({
  ok: false,
  problem: `Your text is unchanged: ${why}. To choose another editor, set $EDITOR.`,
});
