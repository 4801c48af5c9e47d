import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeZip } from '../../test/zip-writer.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import { createLibrary } from './load.ts';

const root = mkdtempSync(join(tmpdir(), 'raymond-fingerprints-'));
afterAll(() => rmSync(root, { recursive: true }));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function filesOf(path: string) {
  const loose = createLibrary({ cwd: root, platform: 'unix', agents: AGENTS });
  const library = loose.unpackingInto(join(root, 'unpacked'));
  const { files = {}, ref } = await library.load(path);
  return { files, folder: await library.scriptFolder(ref) };
}

describe('the files of a workflow', () => {
  test('in a folder: its states', async () => {
    mkdirSync(join(root, 'folder'));
    for (const [name, text] of [
      ['START.md', 'Work.'],
      ['RUN.sh', 'echo ä'],
      ['RUN.bat', 'echo'],
      ['notes.txt', 'not a state'],
    ] as const)
      writeFileSync(join(root, 'folder', name), text);
    expect((await filesOf('folder')).files).toEqual({
      'START.md': sha256('Work.'),
      'RUN.sh': sha256('echo ä'),
      'RUN.bat': sha256('echo'),
    });
  });

  test('in an archive: its states, and one fingerprint for everything else', async () => {
    const pack = (data: string) =>
      writeFileSync(
        join(root, 'flow.zip'),
        writeZip([
          { name: 'START.sh', content: 'echo' },
          { name: 'data.txt', content: data },
        ]),
      );
    pack('one');
    const { files: first } = await filesOf('flow.zip');
    expect(Object.keys(first).sort()).toEqual(['START.sh', 'flow.zip']);
    expect(first['START.sh']).toBe(sha256('echo'));
    pack('two');
    const { files: second } = await filesOf('flow.zip');
    expect(second['START.sh']).toBe(first['START.sh']);
    expect(second['flow.zip']).not.toBe(first['flow.zip']);
  });

  test('in a YAML file: its scripts as they are executed, and the file itself', async () => {
    const text = 'states:\n  START:\n    sh: |\n      echo ä\n  NEXT:\n    prompt: Work.\n';
    writeFileSync(join(root, 'flow.yaml'), text);
    const { files, folder } = await filesOf('flow.yaml');
    expect(files).toEqual({ 'START.sh': sha256('echo ä\n'), 'flow.yaml': sha256(text) });
    expect(sha256(readFileSync(join(folder, 'START.sh'), 'utf8'))).toBe(files['START.sh']);
  });
});
