/** A real nginx with the configuration of the guide, in front of the listener of webhooks. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocument } from '../docs/documents.ts';
import { eventually } from '../eventually.ts';

export interface Nginx {
  /** With TLS and a certificate that nobody has signed. */
  readonly address: string;
  stop(): Promise<void>;
}

export async function startNginx(behind: number): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-nginx-'));
  const [certificate, key] = [join(folder, 'it.pem'), join(folder, 'it.key')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=hooks.example.com', '-out', certificate, '-keyout', key],
    ],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  const document = readDocument('docs/guide/it-starts-by-itself.md');
  const shown = document.blocks.find(({ file }) => file === 'nginx/raymond.conf')?.text ?? '';
  const server = shown
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
  const child = spawn('nginx', ['-p', folder, '-c', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const address = `https://127.0.0.1:${port}`;
  await eventually('nginx replies', async () => (await curl(['-o', '/dev/null', address])) === '');
  return {
    address,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What curl prints, or how it failed. */
export function curl(args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('curl', ['--silent', '--insecure', ...args]);
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
