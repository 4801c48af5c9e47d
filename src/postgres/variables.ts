/**
 * The variables of PostgreSQL (PGPASSWORD, PGHOST and others). Steps run with the environment of their
 * worker, and must not get what opens the database of their run.
 */
import { readFileSync, statSync } from 'node:fs';

/** Removes the variables from an environment, and gives them by their names. */
export function takeVariables(environment: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const taken = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (!NAME.test(name)) continue;
    if (value) taken.set(name.toUpperCase(), value);
    delete environment[name];
  }
  return taken;
}

/** Windows does not distinguish capital letters. */
const NAME = process.platform === 'win32' ? /^PG[A-Z][A-Z_]*$/i : /^PG[A-Z][A-Z_]*$/;

/** The URL with what `pg` would have taken from these variables. It is still a secret. */
export function completeUrl(url: string, variables: ReadonlyMap<string, string>): string {
  if (variables.size === 0) return url;
  const given = partsOf(url);
  if (!given) return url;
  const added = new URLSearchParams();
  for (const [name, { parameter, isGiven, values }] of Object.entries(PARAMETERS)) {
    const value = variables.get(name);
    const isKnown = value !== undefined && (values?.includes(value) ?? true);
    if (isKnown && !isGiven?.(given) && !given.searchParams.has(parameter))
      added.set(parameter, value);
  }
  const [address = '', query] = url.split('?', 2);
  const database = variables.get('PGDATABASE');
  const isNamed = given.pathname.length > 1 || database === undefined;
  const [server = address] = /^[^/]*\/\/[^/]*/.exec(address) ?? [];
  const named = isNamed ? address : `${server}/${encodeURIComponent(database)}`;
  const complete = `${named}?${[query, String(added)].filter(Boolean).join('&')}`;
  const file = variables.get('PGPASSFILE');
  const hasPassword = given.password !== '' || /[?&]password=/.test(complete);
  const password = file === undefined || hasPassword ? undefined : passwordIn(file, complete);
  if (password === undefined) return complete;
  return `${complete}&${new URLSearchParams({ password })}`;
}

interface Parameter {
  readonly parameter: string;
  /** Whether the address itself says it. */
  readonly isGiven?: (url: URL) => boolean;
  readonly values?: readonly string[];
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  PGUSER: { parameter: 'user', isGiven: ({ username }) => username !== '' },
  PGPASSWORD: { parameter: 'password', isGiven: ({ password }) => password !== '' },
  PGHOST: { parameter: 'host', isGiven: ({ hostname }) => hostname !== '' && hostname !== NO_HOST },
  PGPORT: { parameter: 'port', isGiven: ({ port }) => port !== '' },
  PGOPTIONS: { parameter: 'options' },
  PGSSLMODE: {
    parameter: 'sslmode',
    isGiven: ({ searchParams }) => [...searchParams.keys()].some((name) => name.startsWith('ssl')),
    values: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  },
  PGSSLNEGOTIATION: { parameter: 'sslnegotiation' },
  PGCLIENT_ENCODING: { parameter: 'client_encoding' },
};

const NO_HOST = 'no-host';

/** An address may have a user without a host. */
function partsOf(url: string): URL | undefined {
  for (const text of [url, url.replace('@/', `@${NO_HOST}/`)])
    if (URL.canParse(text)) return new URL(text);
  return undefined;
}

/** The password for an address in a file like ~/.pgpass. Like libpq, ignores a file that others can read. */
function passwordIn(file: string, url: string): string | undefined {
  const parts = partsOf(url);
  if (!parts) return undefined;
  const of = (parameter: string, usual: string) => parts.searchParams.get(parameter) ?? usual;
  const wanted = [
    of('host', parts.hostname === NO_HOST ? '' : decodeURIComponent(parts.hostname)) || 'localhost',
    of('port', parts.port) || '5432',
    decodeURIComponent(parts.pathname.slice(1)),
    of('user', decodeURIComponent(parts.username)),
  ];
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) return undefined;
    for (const line of readFileSync(file, 'utf8').split(/\r?\n/)) {
      const fields = [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, field = '']) =>
        field.replace(/\\(.)/g, '$1'),
      );
      const isMatch = wanted.every((value, index) => ['*', value].includes(fields[index] ?? ''));
      if (!line.startsWith('#') && isMatch) return fields[4];
    }
  } catch {
    // It is missing, or cannot be read: then there is no password.
  }
  return undefined;
}
