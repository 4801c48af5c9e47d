/** What the guide puts in front of the listener of webhooks, as real programs with the configuration of the guide. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { readDocument } from '../docs/documents.ts';
import { eventually } from '../eventually.ts';

/** The name of the guide. Its certificate is signed by nobody. */
export const HOST = 'hooks.example.com';

export interface Front {
  readonly port: number;
  readonly scheme: 'https' | 'http';
  stop(): Promise<void>;
}

const guide = () => readDocument('docs/guide/it-starts-by-itself.md');
const shown = (name: string) => guide().blocks.find(({ file }) => file === name)?.text ?? '';

export async function startNginx(behind: number): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-nginx-'));
  const [certificate, key] = [join(folder, 'it.pem'), join(folder, 'it.key')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', `/CN=${HOST}`, '-out', certificate, '-keyout', key],
    ],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  const server = shown('nginx/raymond.conf')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/hooks.example.com.pem', certificate)
    .replace('/etc/ssl/hooks.example.com.key', key)
    .replaceAll('127.0.0.1:8788', `127.0.0.1:${behind}`);
  const config = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    config,
    [
      // Its workers are otherwise those of another user, who cannot write into the folder.
      process.getuid?.() === 0 ? 'user root;' : '',
      `pid ${folder}/pid; daemon off; error_log stderr error; worker_rlimit_nofile 8192;`,
      'events { worker_connections 4096; }',
      `http { access_log off; ${temporary.join(' ')}\n${server}\n}`,
    ].join('\n'),
  );
  return replying(spawn('nginx', ['-p', folder, '-c', config], { stdio: 'ignore' }), port, 'https');
}

export async function startCaddy(behind: number): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-caddy-'));
  const [port, plain] = [await freePort(), await freePort()];
  const config = join(folder, 'Caddyfile');
  writeFileSync(
    config,
    [
      // A certificate of its own, because nobody can reach this machine by that name.
      '{ \n admin off \n local_certs \n skip_install_trust \n auto_https disable_redirects',
      ` http_port ${plain} \n https_port ${port} \n default_bind 127.0.0.1 \n}`,
      shown('caddy/Caddyfile').replaceAll('127.0.0.1:8788', `127.0.0.1:${behind}`),
    ].join('\n'),
  );
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ['run', '--config', config, '--adapter', 'caddyfile'];
  return replying(spawn('caddy', args, { env, stdio: 'ignore' }), port, 'https');
}

/** The tunnel of the guide, to an ssh server on this machine. */
export async function startTunnel(behind: number): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-ssh-'));
  const [port, sshPort] = [await freePort(), await freePort()];
  for (const name of ['host', 'me'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  const config = join(folder, 'sshd_config');
  writeFileSync(
    config,
    [
      `ListenAddress 127.0.0.1:${sshPort}`,
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/me.pub`,
      'PidFile none\nStrictModes no\nUsePAM no\n',
    ].join('\n'),
  );
  // Its own service makes this folder.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  await eventually('the ssh server listens', () => said.includes('Server listening'));
  const line =
    guide()
      .text.split('\n')
      .find((one) => one.startsWith('ssh -N -R')) ?? '';
  const [, ...words] = line
    .replace('127.0.0.1:8788:127.0.0.1:8788', `127.0.0.1:${port}:127.0.0.1:${behind}`)
    .replace(`you@${HOST}`, `${userInfo().username}@127.0.0.1`)
    .split(' ');
  const options = ['StrictHostKeyChecking=no', `UserKnownHostsFile=${folder}/known`];
  const client = spawn(
    'ssh',
    [
      ...['-F', 'none', '-p', `${sshPort}`, '-i', join(folder, 'me')],
      ...options.flatMap((one) => ['-o', one]),
      ...words,
    ],
    { stdio: 'ignore' },
  );
  const tunnel = await replying(client, port, 'http');
  return {
    ...tunnel,
    stop: async () => {
      await tunnel.stop();
      await ended(server);
    },
  };
}

async function replying(
  child: ChildProcess,
  port: number,
  scheme: Front['scheme'],
): Promise<Front> {
  const proxy = { port, scheme, stop: () => ended(child) };
  await eventually('the proxy replies', async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    return (await curl(proxy, ['-o', '/dev/null', addressOf(proxy)])) === '';
  });
  return proxy;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGTERM');
  await end;
}

export const addressOf = ({ scheme, port }: Front) => `${scheme}://${HOST}:${port}`;

/** In the form of a config file of curl. */
export const reachedBy = ({ port }: Front) => ['insecure', `resolve = "${HOST}:${port}:127.0.0.1"`];

/** What curl prints, or how it failed. */
export function curl(proxy: Front, args: readonly string[], input = ''): Promise<string> {
  const reach = ['--insecure', '--resolve', `${HOST}:${proxy.port}:127.0.0.1`];
  return new Promise((resolve) => {
    const child = spawn('curl', ['--silent', ...reach, ...args]);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    child.once('close', (code) => resolve(code === 0 ? text : `curl ended with ${code}`));
    child.stdin.on('error', () => {}).end(input);
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
