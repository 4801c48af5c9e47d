/** `raymond convert`: the same workflow as a folder, an archive and a YAML file. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { writeZip } from '../zip-writer.ts';

const FLOW = {
  'Größe messen/START.sh': `echo '<goto input="3 &lt; 4">NÄCHSTER ORT</goto>'\n`,
  'Größe messen/NÄCHSTER ORT.sh': 'echo "<result>$RAYMOND_INPUT $REGION</result>"\n',
  'Größe messen/LATER.md': '---\nmodel: haiku # cheap\n---\nEnd with <result>ok</result>.\n',
  'Größe messen/workflow.yaml':
    'environment: { REGION: eu }\nstates:\n  START:\n    max_visits: 2\n',
  'Größe messen/rehearsal.yaml': 'replies: [ja]\n',
  'Größe messen/README.md': '# Misst\n',
  'Größe messen/first.test.yaml': 'expect: { outcome: completed }\n',
};

async function convert(project: Project, ...args: string[]) {
  const { stdout, stderr, code } = await command(project, ['convert', ...args]);
  return { code, said: stdout + stderr };
}

const content = (project: Project, folder: string) =>
  Object.fromEntries(
    readdirSync(project.path(folder)).map((name) => [name, project.read(folder, name)]),
  );

test('a folder becomes YAML, an archive and a folder again', async () => {
  const project = newProject(FLOW);
  expect(await convert(project, 'Größe messen', 'ein maß.yaml')).toEqual({
    code: 0,
    said: ['yaml', 'README.md', 'first.test.yaml', 'rehearsal.yaml']
      .map((ending) => `ein maß.${ending}`)
      .map((name) => `Wrote ${project.path(name)}\n`)
      .join(''),
  });
  expect((await convert(project, 'ein maß.yaml', 'b.zip')).code).toBe(0);
  expect((await convert(project, 'b.zip', 'c')).code).toBe(0);
  expect(content(project, 'c')).toEqual(content(project, 'Größe messen'));
  for (const path of ['ein maß.yaml', 'b.zip', 'c']) {
    expect(await command(project, [path, '--quiet'])).toMatchObject({
      stdout: '3 < 4 eu\n',
      stderr: '',
    });
    expect((await command(project, ['test', path])).stdout).toContain('1 passed');
  }
});

test('an archive keeps every file and its permissions', async () => {
  const project = newProject({ 'a/START.sh': 'echo', 'a/tool.py': 'x', 'a/.hidden': 'y' });
  project.write('a/data.bin', new Uint8Array([0, 255, 128]));
  chmodSync(project.path('a/tool.py'), 0o755);
  chmodSync(project.path('a/START.sh'), 0o640);
  await convert(project, 'a', 'a.zip');
  await convert(project, 'a.zip', 'b');
  const modes = (folder: string) =>
    readdirSync(project.path(folder)).map((name) => [
      name,
      statSync(project.path(folder, name)).mode & 0o777,
    ]);
  expect(modes('b')).toEqual(modes('a'));
  expect(readFileSync(project.path('b/data.bin'))).toEqual(Buffer.from([0, 255, 128]));
  await convert(project, 'a', 'again.zip');
  expect(readFileSync(project.path('again.zip'))).toEqual(readFileSync(project.path('a.zip')));
});

test('nothing is overwritten without --force', async () => {
  const project = newProject({ 'a/START.md': 'new', 'a.yaml': 'mine', 'b/START.md': 'mine' });
  const refused = await convert(project, 'a', 'a.yaml');
  expect(refused.said).toContain('a.yaml already exists. Nothing was written.');
  expect(refused.code).toBe(64);
  expect(project.read('a.yaml')).toBe('mine');
  expect((await convert(project, 'a', 'a.yaml', '--force')).code).toBe(0);
  expect((await convert(project, 'a.yaml', 'b')).code).toBe(64);
  expect((await convert(project, 'a.yaml', 'b', '--force')).code).toBe(0);
  expect(project.read('b/START.md')).toBe('new');
  project.write('b/OLD.md', 'old');
  const kept = await convert(project, 'a.yaml', 'b', '--force');
  expect(kept.said).toContain('b already contains OLD.md. Nothing was written.');
  expect(readdirSync(project.folder).filter((name) => name.startsWith('.raymond-'))).toEqual([]);
});

test.each<[string, Readonly<Record<string, string | Uint8Array>>, readonly string[], string]>([
  ['a file that is no state', { 'a/tool.py': 'x' }, ['a', 'a.yaml'], 'tool.py is not a state'],
  ['a folder in a folder', { 'a/sub/X.md': 'x' }, ['a', 'a.zip'], 'it contains the folder sub'],
  [
    'bytes that are not UTF-8',
    { 'a/B.md': Buffer.from([255]) },
    ['a', 'a.yaml'],
    'B.md is not UTF-8',
  ],
  ['two kinds', { 'a/B.md': 'x', 'a/B.sh': 'x' }, ['a', 'a.yaml'], 'both a prompt and a script'],
  [
    'names that differ in case',
    { 'a/B.md': 'x', 'a/b.md': 'x' },
    ['a', 'a.zip'],
    'both B.md and b.md',
  ],
  ['a name with a backslash', { 'a/B\\.md': 'x' }, ['a', 'a.zip'], 'not a plain file name'],
  ['a broken state', { 'a/B.md': '---\nmodel: 3\n---\n' }, ['a', 'a.yaml'], 'B.md:2:8'],
  ['the same kind', {}, ['a', 'b'], 'it is already a folder'],
  ['one state', {}, ['a/START.md', 'b.zip'], 'it is one state of a workflow'],
  ['itself', {}, ['a', 'a/b.zip'], 'would be part of it'],
  ['a missing workflow', {}, ['nothing', 'b.zip'], 'There is no workflow at nothing'],
  ['a missing folder', {}, ['a', 'no/where/b.zip'], 'cannot be written'],
  [
    'a path to another workflow',
    { 'a/B.md': '<call-workflow return="START">../c</call-workflow>' },
    ['a', 'a.zip'],
    'it enters the workflow ../c',
  ],
])('%s is refused, and nothing is written', async (_, files, args, reason) => {
  const project = newProject({ 'a/START.md': 'Go on. <goto>B</goto> <result>x</result>' });
  for (const [path, text] of Object.entries(files)) project.write(path, text);
  const before = readdirSync(project.folder, { recursive: true });
  const { said, code } = await convert(project, ...args);
  expect(said).toContain(reason);
  expect(code).toBe(64);
  expect(readdirSync(project.folder, { recursive: true })).toEqual(before);
});

test('a hostile archive writes nothing outside of the target', async () => {
  const project = newProject({});
  const hostile = { '../evil.sh': 'zip-bad-name', 'START.sh': '' };
  const parts = Object.keys(hostile).map((name) => ({ name, content: 'x' }));
  project.write('a.zip', writeZip(parts));
  expect((await convert(project, 'a.zip', 'b')).said).toContain('not a plain file name');
  project.write('l.zip', writeZip([{ name: 'START.sh', content: '/etc/passwd', mode: 0o120777 }]));
  expect((await convert(project, 'l.zip', 'b')).said).toContain('is a link or a device');
  project.write('s.zip', writeZip([{ name: 'START.sh', content: 'x', mode: 0o104777 }]));
  expect((await convert(project, 's.zip', 'c')).code).toBe(0);
  expect(statSync(project.path('c/START.sh')).mode & 0o7777).toBe(0o755);
  expect(existsSync(project.path('b'))).toBe(false);
});

test('a link out of the folder is refused', async () => {
  const project = newProject({ 'a/START.md': 'x', 'secret.txt': 's' });
  symlinkSync(project.path('secret.txt'), project.path('a/notes.txt'));
  expect((await convert(project, 'a', 'a.zip')).said).toContain('notes.txt cannot be read');
  expect(existsSync(project.path('a.zip'))).toBe(false);
});
