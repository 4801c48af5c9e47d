import { connect, createServer, type Socket } from 'node:net';

export interface Network {
  /** The address of the same database by way of the proxy. */
  readonly url: string;
  /** From now on, the open connections stay open, but nothing passes. New ones work. */
  swallow(): void;
  /** From now on, new connections also stay silent. */
  swallowAll(): void;
  /** Ends all connections, and refuses new ones. */
  close(): Promise<void>;
}

/** A network between a program and its database, in which connections can hang. */
export async function startProxy(target: string): Promise<Network> {
  const { hostname, port } = new URL(target);
  const links = new Set<{ isSilent: boolean }>();
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const link = { isSilent };
    const far = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    links.add(link);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('data', (data) => link.isSilent || to.write(data));
      from.on('end', () => link.isSilent || to.end());
      from.on('close', () => {
        sockets.delete(from);
        if (!link.isSilent) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  const swallow = () => {
    for (const link of links) link.isSilent = true;
  };
  return {
    url: url.href,
    swallow,
    swallowAll() {
      isSilent = true;
      swallow();
    },
    async close() {
      if (!server.listening) return;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
