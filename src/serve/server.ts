/** The HTTP server. It listens on this machine only. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { UserError } from '../model/user-error.ts';
import type { ServeParts } from './answers.ts';
import { appFor } from './app.ts';
import { originOf } from './gate.ts';
import type { OtherProjects } from './projects.ts';

export interface RunningServer {
  readonly port: number;
  readonly token: string;
  /** Opens the page. The fragment is never sent to a server. */
  readonly address: string;
  close(): Promise<void>;
}

/** Without a port, the usual one is used, or any other if it is in use. */
export async function startServer(
  parts: ServeParts,
  wanted: number | undefined,
  others?: OtherProjects,
): Promise<RunningServer> {
  const server = createServer({ maxHeaderSize: 16 * 1024, requireHostHeader: true });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.maxConnections = MOST_CONNECTIONS;
  const port = await listen(server, wanted);
  const token = randomBytes(32).toString('base64url');
  const app = appFor(parts, { port, token }, others);
  server.on(
    'request',
    getRequestListener((request) => app.hono.fetch(request), { overrideGlobalObjects: false }),
  );
  return {
    port,
    token,
    address: `${originOf(port)}/#token=${token}`,
    close: () => {
      app.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

export const USUAL_PORT = 4170;
const MOST_CONNECTIONS = 500;

async function listen(server: Server, wanted: number | undefined): Promise<number> {
  try {
    return await listenOn(server, wanted ?? USUAL_PORT);
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken) throw error;
    if (wanted === undefined) return listenOn(server, 0);
    throw new UserError(
      'port-in-use',
      `Another program uses port ${wanted}.`,
      'Name another port, or omit --port.',
    );
  }
}

function listenOn(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
