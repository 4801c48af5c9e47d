import { connect, createServer, type Socket } from 'node:net';

export interface Network {
  /** The address of the same database by way of the proxy. */
  readonly url: string;
  /** From now on, the open connections stay open, but nothing passes. New ones work. */
  swallow(): void;
  /** From now on, new connections also stay silent. */
  swallowAll(): void;
  /** The program loses its connections, and the server does not notice it. New ones work. */
  cut(): void;
  /** How often the program has sent something after an answer, on any connection. */
  roundTrips(): number;
  /** Ends all connections, and refuses new ones. */
  close(): Promise<void>;
}

/** A network between a program and its database, in which connections can hang. Answers take `delayMs`. */
export async function startProxy(target: string, delayMs = 0): Promise<Network> {
  const { hostname, port } = new URL(target);
  const links = new Set<{ isSilent: boolean; readonly near: Socket }>();
  const sockets = new Set<Socket>();
  let isSilent = false;
  let roundTrips = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const link = { isSilent, near };
    let isAnswered = true;
    near.on('data', () => {
      if (isAnswered) roundTrips++;
      isAnswered = false;
    });
    const answer = (data: Buffer) => {
      isAnswered = true;
      near.write(data);
    };
    const far = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    links.add(link);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('data', (data) => {
        if (link.isSilent) return;
        if (to === far) to.write(data);
        else if (delayMs === 0) answer(data);
        else setTimeout(answer, delayMs, data);
      });
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
    cut() {
      swallow();
      for (const { near } of links) near.destroy();
    },
    roundTrips: () => roundTrips,
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
