/**
 * A registry on loopback that knows the packages of package-lock.json. npm finds their content in its
 * cache, by the checksum. So the installation of a package needs no network.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from './documents.ts';

export interface LoopbackRegistry {
  readonly url: string;
  close(): Promise<void>;
}

export async function loopbackRegistry(): Promise<LoopbackRegistry> {
  const packages = lockedPackages();
  const server = createServer((request, response) => {
    const found = packages.get(decodeURIComponent(request.url ?? '').slice(1));
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
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
