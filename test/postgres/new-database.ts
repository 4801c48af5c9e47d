import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

/**
 * The URL of a new, empty database on the server that all tests share. Removed after the test, or when
 * `atEnd` calls back.
 */
export async function newDatabase(
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const server = await sharedServer();
  const name = `test_${process.pid}_${++made}`;
  await administer(server, `create database ${name}`);
  atEnd(() => administer(server, `drop database ${name} with (force)`));
  return databaseAt(server, name);
}

let made = 0;
let asked: Promise<string> | undefined;

function sharedServer(): Promise<string> {
  asked ??= askForServer();
  return asked;
}

async function askForServer(): Promise<string> {
  const reply = JSON.parse(await text(createConnection(inject('postgresSocket'))));
  if (typeof reply.url !== 'string') throw new Error(reply.problem);
  return reply.url;
}

/** The URL of another database on the same server. */
export function databaseAt(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements of an administrator. */
export async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
