// Workflows that others share, added and updated with the built program, from a server and a repository on this machine.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeZip } from '../../src/load/write-zip.ts';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Project } from '../raymond.ts';

const REVIEW = {
  'START.sh': `echo '<goto>END</goto>'`,
  'END.sh': `echo '<result>reviewed</result>'`,
  'README.md': 'A review.',
};

const zipOf = (files: Readonly<Record<string, string>>) =>
  writeZip(
    Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text), mode: 0o644 })),
  );

let server: Server;
let address = '';
const served = new Map<string, Buffer | { readonly location: string }>();
beforeAll(async () => {
  server = createServer((request, response) => {
    const found = served.get(request.url ?? '');
    if (found === undefined) response.writeHead(404).end();
    else if ('location' in found) response.writeHead(302, { location: found.location }).end();
    else response.writeHead(200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

function git(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' });
}

/** A repository beside the project, with the workflow in a folder. */
function repositoryBeside(project: Project, name = 'flows.git'): string {
  const folder = join(dirname(project.folder), name);
  mkdirSync(join(folder, 'review'), { recursive: true });
  for (const [file, text] of Object.entries(REVIEW))
    writeFileSync(join(folder, 'review', file), text);
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '--all');
  git(folder, 'commit', '-qm', 'first');
  git(folder, 'tag', 'v1');
  return folder;
}

const lockOf = (project: Project) => JSON.parse(project.read('raymond-lock.json'));

test('an archive is checked, shown, added after a yes, and runs', async () => {
  const project = newProject({}, 'Ablage für später');
  served.set('/review.zip', zipOf(REVIEW));
  const refused = await command(project, ['add', `${address}/review.zip`]);
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain('scripts, which run as you: END.sh, START.sh');
  expect(refused.stderr).toContain('add --yes');
  expect(existsSync(project.path('flows'))).toBe(false);
  const added = await command(project, ['add', `${address}/review.zip`, '--yes']);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const [, sha256 = ''] = /sha256 ([0-9a-f]{64})/.exec(added.stdout) ?? [];
  expect(refused.stderr).toContain(sha256);
  expect(lockOf(project)).toEqual({
    version: 1,
    workflows: { 'flows/review': { source: `${address}/review.zip`, sha256 } },
  });
  expect(statSync(project.path('flows/review')).mode & 0o777).toBe(0o700);
  expect(await command(project, ['review', '--quiet'])).toMatchObject({ stdout: 'reviewed\n' });
  // The digest is the consent, and it is the same for the folder of a repository.
  const source = `${repositoryBeside(project)}//review@v1#${sha256}`;
  const second = await command(project, ['add', source, 'flows/second']);
  expect(second, second.stderr).toMatchObject({ code: 0 });
  expect(lockOf(project).workflows['flows/second'].sha256).toBe(sha256);
});

test('a person at the terminal is asked, and a no writes nothing', async () => {
  const project = newProject({});
  served.set('/asked.zip', zipOf(REVIEW));
  const terminal = atTerminal(project, ['add', `${address}/asked.zip`]);
  await eventually('the question is on the screen', () =>
    terminal.screen().includes('Write it into the project? [yes/no]'),
  );
  terminal.type('no\r');
  expect(await terminal.ended).toBe(1);
  expect(existsSync(project.path('flows'))).toBe(false);
});

test('an update fetches what is new, and keeps what was changed here', async () => {
  const project = newProject({});
  const folder = repositoryBeside(project);
  expect(await command(project, ['add', `${folder}//review`, '--yes'])).toMatchObject({ code: 0 });
  const update = (...args: string[]) => command(project, ['update', ...args]);
  const first = await update('--yes');
  expect(first, JSON.stringify([first, lockOf(project)])).toMatchObject({
    code: 0,
    stdout: 'flows/review: current\n',
  });
  writeFileSync(join(folder, 'review', 'END.sh'), `echo '<result>newer</result>'`);
  rmSync(join(folder, 'review', 'README.md'));
  git(folder, 'commit', '-qam', 'second');
  expect(await update('--check')).toMatchObject({ code: 1 });
  expect(project.read('flows/review/END.sh')).toContain('reviewed');
  project.write('flows/review/END.sh', 'mine');
  const kept = await update('flows/review', '--yes');
  expect(kept.code).toBe(1);
  expect(kept.stdout).toContain('were changed here');
  expect(project.read('flows/review/END.sh')).toBe('mine');
  expect(await update('--yes', '--force')).toMatchObject({
    code: 0,
    stdout: 'flows/review: updated\n',
  });
  expect(project.read('flows/review/END.sh')).toContain('newer');
  expect(existsSync(project.path('flows/review/README.md'))).toBe(false);
  expect(await update('--yes')).toMatchObject({ stdout: 'flows/review: current\n' });
  rmSync(project.path('flows'), { recursive: true });
  expect((await update('--check')).stdout).toContain('is missing');
  expect(await update('--yes', '--json')).toMatchObject({ code: 0 });
  expect(project.read('flows/review/START.sh')).toContain('END');
  expect((await update('nothing')).stderr).toContain('Name one of those in raymond-lock.json');
});

test.each([
  [
    'other content than was named',
    () => `${address}/x.zip#${'0'.repeat(64)}`,
    'is not the workflow',
  ],
  ['no digest', () => `${address}/x.zip#abc`, 'is not a SHA-256'],
  ['neither archive nor repository', () => 'https://example.org/x', 'is no shared workflow'],
  ['an address without encryption', () => 'http://example.org/x.zip', 'is no shared workflow'],
  ['a program in place of an address', () => 'ext::touch pwned.git', 'is no shared workflow'],
  ['an option in place of an address', () => '--upload-pack=touch.git', 'has no option'],
  ['a missing file', () => 'nowhere.zip', 'the file or its folder does not exist.'],
  [
    'no server',
    () => 'https://127.0.0.1:65535/x.zip',
    'cannot be reached: it refuses connections.',
  ],
  ['a server without it', () => `${address}/missing.zip`, 'the server said 404'],
  ['a redirect to an address without encryption', () => `${address}/leads.zip`, 'not encrypted'],
  ['an endless redirect', () => `${address}/loop.zip`, 'from one address to the next'],
  ['no archive', () => `${address}/text.zip`, 'is not a zip archive'],
  ['errors', () => `${address}/broken.zip`, '1 error'],
  ['a link', () => `${address}/link.zip`, 'is a link or a device'],
])('refuses %s', async (_, source, message) => {
  const project = newProject({});
  served.set('/x.zip', zipOf(REVIEW));
  served.set('/leads.zip', { location: 'http://example.org/x.zip' });
  served.set('/loop.zip', { location: '/loop.zip' });
  served.set('/text.zip', Buffer.from('text'));
  served.set(
    '/broken.zip',
    zipOf({ 'START.md': '---\nallowed_transitions: [{ tag: goto, target: NOWHERE }]\n---\nGo.' }),
  );
  served.set('/link.zip', linkedZip());
  const { code, stderr } = await command(project, ['add', source(), '--yes']);
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(code).toBe(64);
  expect(existsSync(project.path('flows'))).toBe(false);
  expect(existsSync(project.path('raymond-lock.json'))).toBe(false);
});

function linkedZip(): Buffer {
  const zip = zipOf({ 'START.sh': '/etc/passwd' });
  // The type of the file in the directory of the archive.
  const at = zip.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
  zip.writeUInt32LE(((0o120777 << 16) >>> 0) >>> 0, at + 38);
  return zip;
}

test.each(['../outside', '.git/hooks', 'linked/place', '.'])(
  'neither an argument nor the lock file of a clone leads to %s',
  async (place) => {
    const project = newProject({});
    const outside = join(dirname(project.folder), 'elsewhere');
    mkdirSync(outside);
    symlinkSync(outside, project.path('linked'));
    served.set('/review.zip', zipOf(REVIEW));
    const source = `${address}/review.zip`;
    const added = await command(project, ['add', source, place, '--yes']);
    expect(added.code).toBe(64);
    project.write(
      'raymond-lock.json',
      JSON.stringify({ version: 1, workflows: { [place]: { source, sha256: 'x' } } }),
    );
    const updated = await command(project, ['update', '--yes', '--force']);
    expect(updated.code).toBe(64);
    expect(updated.stderr).toContain('Nothing was written.');
    expect(existsSync(join(dirname(project.folder), 'outside'))).toBe(false);
    expect(existsSync(join(outside, 'place'))).toBe(false);
    expect(existsSync(project.path('.git/hooks/START.sh'))).toBe(false);
  },
);

test('what a repository contains is not executed, and its filters do not run', async () => {
  const project = newProject({});
  const folder = repositoryBeside(project);
  writeFileSync(join(folder, '.gitattributes'), '* filter=evil\n');
  writeFileSync(
    join(folder, '.gitmodules'),
    '[submodule "x"]\n\tpath = x\n\turl = ext::touch pwned\n',
  );
  git(folder, 'add', '--all');
  git(folder, 'commit', '-qm', 'hostile');
  const marker = join(dirname(project.folder), 'pwned');
  const config = join(dirname(project.folder), 'gitconfig');
  writeFileSync(config, `[filter "evil"]\n\tsmudge = touch ${marker}; cat\n`);
  const env = { GIT_CONFIG_GLOBAL: config };
  const added = await command(project, ['add', `${folder}//review`, '--yes'], { env });
  expect(added, added.stderr).toMatchObject({ code: 0 });
  expect(existsSync(marker)).toBe(false);
  expect(readFileSync(project.path('flows/review/END.sh'), 'utf8')).toBe(REVIEW['END.sh']);
});

test('a step of a run adds nothing', async () => {
  served.set('/review.zip', zipOf(REVIEW));
  const project = newProject({
    'flow/START.sh': `echo "<result>$('${process.execPath}' '${BIN}' add ${address}/review.zip --yes 2>&1)</result>"`,
  });
  const { stdout } = await command(project, ['flow']);
  expect(stdout).toContain('only a person can add a workflow');
  expect(existsSync(project.path('flows'))).toBe(false);
});
