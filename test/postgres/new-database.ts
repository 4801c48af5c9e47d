import pg from 'pg';
import { onTestFinished } from 'vitest';
import { prepared } from '../prepared.ts';

/**
 * The URL of a new, empty database on the server that all tests share. Removed after the test, or when
 * `atEnd` calls back.
 */
export async function newDatabase(
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  asked ??= prepared('postgres');
  const server = await asked;
  const name = `test_${process.pid}_${++made}`;
  await administer(server, `create database ${name}`);
  atEnd(() => administer(server, `drop database ${name} with (force)`));
  return databaseAt(server, name);
}

let made = 0;
let asked: Promise<string> | undefined;

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
