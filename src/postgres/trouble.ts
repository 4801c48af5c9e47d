/** Which errors of a database pass, and which ones the user has to fix. */
import { NETWORK_REASONS } from '../model/network-reasons.ts';
import { UserError } from '../model/user-error.ts';
import { type Address, nameOf } from './address.ts';

/** The database as a whole cannot be used. It says nothing about a single run. */
export class DatabaseError extends UserError {}

/** The server allows no more connections. */
export const NO_CONNECTION = '53300';

/** The server has connections left, but they are for others. */
export class NoConnectionLeft extends Error {
  readonly code = NO_CONNECTION;

  constructor(most: number, spared: number) {
    super(`it allows ${most}, and a worker leaves ${spared} of them to others`);
  }
}

export type Trouble =
  /** The same attempt can succeed later. */
  | 'passing'
  /** The same, but only if the server worked before. Otherwise the address is probably wrong. */
  | 'unreachable'
  /** The caller broke a rule of the tables, or found a bug. */
  | 'other';

export function troubleOf(error: unknown): Trouble {
  const code = codeOf(error);
  if (code === undefined) return isLostConnection(error) ? 'passing' : 'other';
  if (PASSING.has(code) || PASSING_CLASSES.has(code.slice(0, 2))) return 'passing';
  return UNREACHABLE.has(code) ? 'unreachable' : 'other';
}

/** Whether the server may have done the work although the answer did not arrive. */
export function isUncertain(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return isLostConnection(error);
  return UNREACHABLE.has(code) || code.startsWith('08') || code.startsWith('57P');
}

/** The error as the user sees it. Messages of the server never contain the password. */
export function asUserError(error: unknown, address: Address): unknown {
  if (error instanceof UserError) return error;
  const code = codeOf(error);
  const database = nameOf(address);
  const refusal = code === undefined ? plainRefusal(error) : (REFUSALS[code] ?? tlsRefusal(code));
  if (refusal) return new DatabaseError(refusal[0], refusal[1](database), refusal[2]);
  if (troubleOf(error) === 'other') return error;
  return new DatabaseError(
    'database-unreachable',
    `Raymond cannot reach ${database}: ${reasonOf(error)}.`,
    'Check that PostgreSQL runs there, and that the address is right.',
  );
}

export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const known = code === undefined ? undefined : REASONS[code];
  if (known) return known;
  if (code === NO_CONNECTION && !(error instanceof NoConnectionLeft)) return 'all are in use';
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message : 'the connection was lost';
  return text.replace(/\.$/, '') || `it failed with ${code}`;
}

/** The code of a system error, or the SQLSTATE of the server. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

/** Connections, insufficient resources. */
const PASSING_CLASSES = new Set(['08', '53']);

const PASSING = new Set([
  '57P01', // The server shuts down.
  '57P02', // It crashed.
  '57P03', // It starts.
  '57P05', // The session was idle for too long.
  '25P03', // The transaction was idle for too long, for example because this process was stopped.
  '25006', // It is a standby, after a failover.
  '40001', // Another transaction came first.
  '40P01', // Two transactions waited for each other.
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** `pg` has no codes for these. */
function isLostConnection(error: unknown): boolean {
  return error instanceof Error && LOST.some((text) => error.message.includes(text));
}

const LOST = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
];

const REASONS: Readonly<Record<string, string>> = {
  ...NETWORK_REASONS,
  ENOENT: 'there is no such socket',
};

type Refusal = readonly [code: string, message: (database: string) => string, remedy: string];

const wrongUser: Refusal = [
  'database-refused',
  (database) => `${capital(database)} refuses the user or the password.`,
  'Check the user and the password in the URL, PGPASSWORD or ~/.pgpass.',
];

const REFUSALS: Readonly<Record<string, Refusal>> = {
  '28000': [
    'database-refused',
    (database) => `${capital(database)} refuses this user from this machine.`,
    'Check the user in the URL, and pg_hba.conf of the server. If the server demands TLS, add ?sslmode=verify-full to the URL.',
  ],
  '28P01': wrongUser,
  '3D000': [
    'no-database',
    (database) => `There is no ${database.slice('the '.length)}.`,
    'Create it with createdb, or name another one.',
  ],
  '42501': [
    'database-rights',
    (database) => `The user has too few rights in ${database}.`,
    'Grant the right to connect, and all rights on the schema raymond and its tables. Or let the owner of the database run this command once.',
  ],
};

/** `pg` has no code for it. */
function plainRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !error.message.includes('does not support SSL'))
    return undefined;
  return [
    'database-tls',
    (database) => `${capital(database)} does not offer TLS, but the URL demands it.`,
    'Turn on TLS in PostgreSQL (ssl = on), or remove sslmode from the URL if the network is yours.',
  ];
}

function tlsRefusal(code: string): Refusal | undefined {
  if (!/CERT|^ERR_TLS_|^ERR_SSL_|^UNABLE_TO_VERIFY_/.test(code)) return undefined;
  return [
    'database-tls',
    (database) => `Raymond cannot verify the certificate of ${database} (${code}).`,
    'Name the certificate of its authority in the URL: ?sslmode=verify-full&sslrootcert=/path/to/authority.crt. The host in the URL must be the one in the certificate.',
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
