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
  /** From now on, answers take this long. */
  slow(ms: number): void;
  /** From now on, nothing passes on any connection, and none is closed. What is sent arrives after `calm`. */
  stall(): void;
  /** From now on, the open connections lose what one side sends. New ones work. */
  drop(what: 'requests' | 'answers'): void;
  /** Each open connection is cut after this many more bytes, in the middle of a message. New ones work. */
  cutAfter(bytes: number): void;
  /** Ends `slow` and `stall`. */
  calm(): void;
  /** How often the program has sent something after an answer, on any connection. */
  roundTrips(): number;
  /** Ends all connections, and refuses new ones. */
  close(): Promise<void>;
}

/** A network between a program and its database, in which connections can hang. Answers take `usualMs`. */
export async function startProxy(target: string, usualMs = 0): Promise<Network> {
  const { hostname, port } = new URL(target);
  const links = new Set<Link>();
  let delayMs = usualMs;
  let isStalled = false;
  const sockets = new Set<Socket>();
  let isSilent = false;
  let roundTrips = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const link: Link = { isSilent, near, bytesLeft: Number.POSITIVE_INFINITY };
    let isAnswered = true;
    near.on('data', () => {
      if (isAnswered) roundTrips++;
      isAnswered = false;
    });
    const answers: Buffer[] = [];
    /** In order, even if a later one takes less time. */
    const answer = () => {
      isAnswered = true;
      const data = answers.shift();
      if (data && !link.isSilent) near.write(data);
    };
    const far = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    links.add(link);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      if (isStalled) from.pause();
      from.on('data', (all) => {
        if (link.isSilent || link.lost === (from === near ? 'requests' : 'answers')) return;
        const data = all.subarray(0, link.bytesLeft);
        link.bytesLeft -= all.length;
        if (link.bytesLeft < 0) return to.end(data, () => near.destroy());
        if (to === far) return to.write(data);
        if (answers.push(data) === 1 && delayMs === 0) answer();
        else setTimeout(answer, delayMs);
      });
      from.on('end', () => link.isSilent || to.end());
      from.on('close', () => {
        sockets.delete(from);
        links.delete(link);
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
  const stall = (isOn: boolean) => {
    isStalled = isOn;
    for (const socket of sockets) isOn ? socket.pause() : socket.resume();
  };
  return {
    url: url.href,
    swallow,
    slow(ms) {
      delayMs = ms;
    },
    stall: () => stall(true),
    drop(what) {
      for (const link of links) link.lost ??= what;
    },
    cutAfter(bytes) {
      for (const link of links) link.bytesLeft = Math.min(link.bytesLeft, bytes);
    },
    calm() {
      delayMs = usualMs;
      stall(false);
    },
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

interface Link {
  isSilent: boolean;
  lost?: 'requests' | 'answers';
  bytesLeft: number;
  readonly near: Socket;
}
