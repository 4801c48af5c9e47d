import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';

export type Prepared = 'build' | 'postgres';

/** The variable with the socket of `prepare.ts`. */
export const DOOR = 'RAYMOND_TEST_DOOR';

/** Waits until something that tests share is ready. Gives the path of the program, or the URL of the server. */
export async function prepared(name: Prepared): Promise<string> {
  const socket = process.env[DOOR];
  if (socket === undefined) throw new Error(`Only the tests of the suite have ${name}.`);
  const asking = createConnection(socket);
  asking.end(name);
  const reply = JSON.parse(await text(asking));
  if (typeof reply.value !== 'string') throw new Error(reply.problem);
  return reply.value;
}
