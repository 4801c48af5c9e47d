import pg from 'pg';
import { UserError } from '../model/user-error.ts';

/** The part of a URL that people may see: never the user, the password or another parameter. */
export interface Address {
  readonly host: string;
  readonly database: string;
}

/** Throws a UserError if the text is not the URL of a PostgreSQL database. It never contains the text. */
export function addressOf(url: string): Address {
  if (!/^postgres(?:ql)?:\/\//i.test(url)) throw notAnUrl();
  try {
    // It also knows the defaults and the variables of the environment. It opens no connection.
    const { host, port, database } = new pg.Client({ connectionString: url });
    return { host: `${host}:${port}`, database: database ?? 'postgres' };
  } catch (error) {
    const isFile = error instanceof Error && 'path' in error;
    throw isFile ? unreadableFile() : notAnUrl();
  }
}

export function nameOf({ host, database }: Address): string {
  return `the database ${database} at ${host}`;
}

function notAnUrl(): UserError {
  return new UserError(
    'bad-database',
    'The given database is not the URL of a PostgreSQL database.',
    'Use this form: postgres://user@host:5432/name. The password can be in PGPASSWORD or in ~/.pgpass.',
  );
}

function unreadableFile(): UserError {
  return new UserError(
    'bad-database',
    'The URL of the database names a certificate or a key that cannot be read.',
    'Check sslrootcert, sslcert and sslkey in the URL.',
  );
}
