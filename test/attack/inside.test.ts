// A script that wants out of its sandbox: of bubblewrap alone, and of the sandbox with a network.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newProject } from '../new-project.ts';
import { scriptOf, TRIES } from './inside.ts';

async function listening(where: number | string): Promise<number> {
  const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'));
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(where, resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

test.each([
  ['bubblewrap alone', 'none'],
  ['the sandbox with a network', '[allowed.example]'],
])('nothing gets out of %s', async (_, network) => {
  const project = newProject({
    'flow/workflow.yaml': `rights: { write: [out], hide: [hidden], network: ${network} }`,
    'flow/START.sh': scriptOf(TRIES),
    'hidden/note': 'secret',
    '.envrc': 'true',
    '.git/config': '[core]\n',
    'out/.keep': '',
  });
  const home = dirname(project.folder);
  mkdirSync(join(home, '.ssh'));
  writeFileSync(join(home, '.ssh', 'id_test'), 'secret');
  const socket = join(project.folder, 'service');
  const port = await listening(0);
  await listening(socket);
  const variables = {
    ...{ PROJECT: project.folder, HOME_FOLDER: home, SOCKET: socket, PORT: String(port) },
    USER_FOLDER: join(home, 'state', 'raymond'),
    OUTSIDE: String(process.pid),
  };
  const { code, stdout, stderr } = await project.run(['flow', '--workflow-id', 'r'], {
    env: { ...variables, HOME: home },
  });
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'tried\n' });
  const said = project.lines('.raymond/runs/r/steps/main/1/stdout').slice(0, -1);
  expect(said).toEqual(TRIES.map(({ name }) => `held: ${name}`));
  const left = TRIES.flatMap(({ leaves }) => leaves ?? []).filter((path) =>
    existsSync(join(home, path)),
  );
  expect(left).toEqual([]);
  // Bubblewrap records nothing, and the tries are silent.
  if (network !== 'none') expect(stderr).toContain('the sandbox refused: write');
});
