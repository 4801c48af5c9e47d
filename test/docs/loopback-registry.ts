/**
 * A registry on loopback that knows the packages of package-lock.json. npm finds their content in its
 * cache, by the checksum. So the installation of a package needs no network.
 *
 * For an npm with an empty cache, it can serve the content itself: packed from `node_modules`, and the
 * archives that are given. Such content is not byte for byte that of the real registry.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { root } from './documents.ts';

export interface LoopbackRegistry {
  readonly url: string;
  /** The requests for content, which is a part of the answers only if archives were given. */
  readonly served: readonly string[];
  close(): Promise<void>;
}

/** With `archives`, by the name of the package, it serves content. */
export async function loopbackRegistry(
  archives?: ReadonlyMap<string, string>,
): Promise<LoopbackRegistry> {
  const served: string[] = [];
  const packages = archives ? new Map() : lockedPackages();
  const server = createServer(async (request, response) => {
    const [, wanted = '', archive] = /^\/(.*?)(\/-\/content\.tgz)?$/.exec(request.url ?? '') ?? [];
    const name = decodeURIComponent(wanted);
    if (archives && archive !== undefined) {
      served.push(name);
      await pipeline(contentOf(name, archives), response);
      return;
    }
    const own = archives && packed(name, archives, `http://${request.headers.host}`);
    const found = own ?? packages.get(name);
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    served,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const folderOf = (name: string) => join(root, 'node_modules', name);

function packed(
  name: string,
  archives: ReadonlyMap<string, string>,
  url: string,
): object | undefined {
  const folder = archives.has(name) ? root : folderOf(name);
  if (!existsSync(join(folder, 'package.json'))) return undefined;
  const { version, dependencies, optionalDependencies, bin, os, cpu, engines } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const tarball = `${url}/${encodeURIComponent(name)}/-/content.tgz`;
  const only = {
    ...{ name, version, dependencies, optionalDependencies, bin, os, cpu, engines },
    dist: { tarball },
  };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: only } };
}

function contentOf(name: string, archives: ReadonlyMap<string, string>): Readable {
  const archive = archives.get(name);
  if (archive !== undefined) return createReadStream(archive);
  const words = ['-cz', '--exclude=./node_modules', '--transform=s,^[.],package,', '.'];
  const tar = spawn('tar', words, {
    cwd: folderOf(name),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return tar.stdout;
}

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
}

/** The answers of the registry, by the name of the package. Content that is not cached has its usual address. */
function lockedPackages(): ReadonlyMap<string, object> {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const versions = new Map<string, Record<string, object>>();
  for (const [path, { integrity, ...locked }] of Object.entries(lock.packages)) {
    const name = path.split('node_modules/').at(-1) ?? '';
    const file = `${name.split('/').at(-1)}-${locked.version}.tgz`;
    const dist = { integrity, tarball: `https://registry.npmjs.org/${name}/-/${file}` };
    versions.set(name, { ...versions.get(name), [locked.version]: { name, ...locked, dist } });
  }
  return new Map(
    [...versions].map(([name, all]) => {
      const latest = Object.keys(all).at(-1);
      return [name, { name, 'dist-tags': { latest }, versions: all }];
    }),
  );
}
