/** Plays the tries of `inside.ts` in a sandbox, and outside of one to see that they work. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { shellWord } from '../../src/model/shell-word.ts';
import { BIN, Project } from '../raymond.ts';
import type { Age } from '../real-agent/claude-sandbox.ts';
import { bash, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { processesLeft } from '../survivors.ts';
import { PLANTED, scriptOf, TRIES, type Try, WIDE_TRIES } from './inside.ts';

export interface Row {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
}

export const CONFINED = [
  'a script without a network',
  'a script with a network',
  'a command of the agent',
] as const;

/** Where root plays them. Otherwise those above have no rights of root anyway. */
export const CONFINED_USERS = [
  'a script of an ordinary user without a network',
  'a script of an ordinary user with a network',
] as const;

export type Confined = (typeof CONFINED)[number] | (typeof CONFINED_USERS)[number];

const ORDINARY = 65534;

export async function playInside(who: Confined, age: Age = 'newer'): Promise<readonly Row[]> {
  const user = who.includes('ordinary user') ? ORDINARY : undefined;
  const outside = await surroundings(user);
  try {
    const hasNetwork = who.endsWith('with a network');
    const played = await (who === 'a command of the agent'
      ? playAgent(age, outside)
      : playScript(hasNetwork, outside, user));
    const { said, stderr, places } = played;
    const left = (one: Try) => one.leaves !== undefined && existsSync(resolved(one.leaves, places));
    const rows = [...TRIES, ...WIDE_TRIES, PLANTED].map((one) => ({
      name: one.name,
      expected: 'held',
      seen: left(one) ? 'escaped' : (said.get(one.name)?.shift() ?? 'not tried'),
    }));
    const survivors = await processesLeft(places.PROJECT);
    return [
      ...rows,
      held('what services outside have heard', outside.heard().join(', ')),
      held('processes that stay', survivors.map(String).join(', ')),
      ...(who.endsWith('without a network')
        ? []
        : [
            { name: 'a refused path is told', ...told(stderr, 'write /') },
            {
              name: 'a refused host is recorded',
              ...recorded(places, `:${outside.variables.PORT} (host is not`),
            },
            { name: 'a refused path is recorded', ...recorded(places, places.STATE) },
          ]),
    ];
  } finally {
    await outside.close();
  }
}

const held = (name: string, found: string): Row => ({
  name,
  expected: 'held',
  seen: found === '' ? 'held' : `escaped: ${found}`,
});

const told = (stderr: string, what: string) => {
  const lines = stderr.split('\n').filter((line) => line.includes('the sandbox refused: '));
  return isIn(lines.join('\n'), what);
};

const recorded = ({ PROJECT }: Places, what: string) =>
  isIn(readFileSync(join(PROJECT, '.raymond/runs/r/steps/main/1/refusals'), 'utf8'), what);

const isIn = (text: string, what: string) => ({
  expected: 'recorded',
  seen: text.includes(what) ? 'recorded' : `not in: ${text}`,
});

/** Each try where nothing confines it. Otherwise, a broken one would pass. */
export async function playUnconfined(): Promise<readonly Row[]> {
  const outside = await surroundings();
  const project = new Project({});
  try {
    const rows: Row[] = [];
    for (const one of [...TRIES, ...WIDE_TRIES].filter(({ needs }) => needs === undefined)) {
      const beside = join(dirname(project.folder), `scene-${rows.length}`);
      const home = join(beside, 'home');
      const places = scene(join(beside, 'project'), 'flow/START.sh', home, join(beside, 'user'));
      for (const path of ['.raymond/state/r.jsonl', '.raymond/runs/r/steps/main/1/stdout'])
        put(join(places.PROJECT, path), '');
      put(places.STATE, 'true');
      const known = exportsOf({ ...places, ...outside.variables });
      const code = `exec 9</\n${known}\n${scriptOf([one])}`;
      const { stdout } = await inShell(code, { cwd: places.PROJECT });
      const isLeft = await hasLeft(one, places);
      const seen = isLeft ? 'escaped' : (stdout.trim().split(':')[0] ?? '');
      rows.push({ name: `${one.name}, unconfined`, expected: 'escaped', seen });
    }
    return rows;
  } finally {
    await project.dispose();
    await outside.close();
  }
}

const inShell = (code: string, { cwd }: { readonly cwd: string }) =>
  promisify(execFile)('/bin/bash', ['-c', code], { cwd });

/** A process may leave its file later than the code ends. */
async function hasLeft({ leaves }: Try, places: Places): Promise<boolean> {
  if (leaves === undefined) return false;
  for (let look = 0; look < 50 && !existsSync(resolved(leaves, places)); look++) await delay(20);
  return existsSync(resolved(leaves, places));
}

interface Played {
  readonly said: Map<string, string[]>;
  readonly stderr: string;
  readonly places: Places;
}

type Outside = Awaited<ReturnType<typeof surroundings>>;

const RIGHTS = (network: string) => ({
  all: `hide: [hidden, deep/er/note], network: ${network}`,
  narrow: 'write: [out]',
  wide: 'write: [.]',
});

async function playScript(
  withNetwork: boolean,
  outside: Outside,
  user: number | undefined,
): Promise<Played> {
  const { OPEN } = outside.variables;
  const rights = RIGHTS(withNetwork ? `["127.0.0.1:${OPEN}", allowed.example]` : 'none');
  const project = new Project({
    'flow/workflow.yaml': `rights: { ${rights.all} }
states:
  START.sh: { rights: { ${rights.narrow} } }
  WIDE.sh: { rights: { ${rights.wide} } }
`,
    'flow/START.sh': '. ./tries.sh\necho "<goto>WIDE</goto>"',
    'flow/WIDE.sh': '. ./wide.sh\necho "<goto>END</goto>"',
    'flow/END.sh': 'echo "<result>tried</result>"',
  });
  try {
    const beside = dirname(project.folder);
    const userFolder = join(project.environment.XDG_STATE_HOME ?? '', 'raymond');
    const places = scene(project.folder, 'flow/START.sh', join(beside, 'home'), userFolder);
    writeTries(places, outside);
    if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, beside]);
    const { code, stdout, stderr } = await project.run(['flow', '--workflow-id', 'r'], {
      env: {
        HOME: places.HOME_FOLDER,
        PATH: `${project.path('node_modules/.bin')}:${project.environment.PATH}`,
      },
      // Whoever starts Raymond may have left a folder open.
      within: [...asUser(user), '/bin/bash', '-c', 'exec 9</; exec "$@"', 'bash'],
    });
    if (code !== 0 || stdout !== 'tried\n')
      throw new Error(`The run ended with ${code}: ${stderr}`);
    const outputs = [1, 2].map((step) => project.read(`.raymond/runs/r/steps/main/${step}/stdout`));
    return { said: readSaid(outputs.join('\n')), stderr, places };
  } finally {
    outside.later(() => project.dispose());
  }
}

const asUser = (user: number | undefined) =>
  user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];

async function playAgent(age: Age, outside: Outside): Promise<Played> {
  const { OPEN } = outside.variables;
  const rights = RIGHTS(`["127.0.0.1:${OPEN}", allowed.example]`);
  const front = (own: string) => `---\nallowed_tools: [Bash]\nrights: { ${own} }\n---\n`;
  const replies = [
    bash('. ./tries.sh >out/said'),
    '<goto>WIDE</goto>',
    bash('. ./wide.sh >said-wide'),
    '<goto>END</goto>',
    '<result>tried</result>',
  ];
  const world = await raymondSandbox({
    age,
    workflow: {
      'workflow.yaml': `rights: { ${rights.all} }\n`,
      'START.md': `${front(rights.narrow)}Try.`,
      'WIDE.md': `${front(rights.wide)}Try more.`,
      'END.md': `${front(rights.narrow)}End.`,
    },
    script: (_, turn) => replies[turn] ?? '<result>tried</result>',
  });
  outside.later(() => world.remove());
  const { work, environment } = world.claude;
  const home = environment.HOME ?? '';
  const places = scene(work, 'workflow/START.md', home, join(home, '.local/state/raymond'));
  writeTries(places, outside);
  const { code, stdout, stderr } = await world.run('workflow', '--workflow-id', 'r');
  if (code !== 0 || stdout !== 'tried\n') throw new Error(`The run ended with ${code}: ${stderr}`);
  const outputs = ['out/said', 'said-wide'].map((name) =>
    execFileSync('cat', [join(work, name)], { encoding: 'utf8' }),
  );
  return { said: readSaid(outputs.join('\n')), stderr, places };
}

interface Places {
  readonly PROJECT: string;
  readonly FLOW: string;
  readonly STATE: string;
  readonly BESIDE: string;
  readonly HOME_FOLDER: string;
  readonly USER_FOLDER: string;
}

/** The files that the tries are about. */
function scene(project: string, state: string, home: string, userFolder: string): Places {
  put(join(home, '.ssh/id_test'), 'secret');
  put(join(userFolder, 'key'), 'secret');
  put(join(project, 'hidden/note'), 'secret');
  put(join(project, 'deep/er/note'), 'secret');
  put(join(project, '.envrc'), 'true');
  put(join(project, '.git/HEAD'), 'ref: refs/heads/main\n');
  put(join(project, '.git/config'), '[core]\n');
  const flow = dirname(state);
  for (const folder of ['out', flow, '.git/hooks', '.git/objects', '.git/refs'])
    mkdirSync(join(project, folder), { recursive: true });
  symlinkSync('..', join(project, 'out/to-beside'));
  return {
    PROJECT: project,
    FLOW: join(project, flow),
    STATE: join(project, state),
    BESIDE: dirname(project),
    HOME_FOLDER: home,
    USER_FOLDER: userFolder,
  };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
}

function writeTries(places: Places, { variables }: Outside): void {
  const known = exportsOf({ ...places, ...variables });
  put(join(places.PROJECT, 'tries.sh'), `${known}\n${scriptOf(TRIES)}\n`);
  put(join(places.PROJECT, 'wide.sh'), `${known}\n${scriptOf([...WIDE_TRIES, PLANTED])}\n`);
}

const exportsOf = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join('\n');

const resolved = (path: string, places: Places) =>
  path.replace(/^\$(\w+)/, (_, name: string) => places[name as keyof Places]);

/** What was said of each try, in order: two of them may have the same name. */
function readSaid(text: string): Map<string, string[]> {
  const said = new Map<string, string[]>();
  for (const [, seen = '', name = ''] of text.matchAll(/^(held|escaped): (.+)$/gm))
    said.set(name, [...(said.get(name) ?? []), seen]);
  return said;
}

/** Services, a process and shared memory of the user, outside of every sandbox. */
async function surroundings(user?: number) {
  const theirs = user === undefined ? {} : { uid: user, gid: user };
  const heard: string[] = [];
  const laters: (() => unknown)[] = [];
  const service = createHttpServer((request, response) => {
    heard.push(`a request for ${request.url}`);
    response.end('a service outside\n');
  });
  service.on('connection', () => heard.push('a connection'));
  const PORT = await portOf(service);
  const datagrams = createSocket('udp4', (_, { port, address }) => {
    heard.push('a datagram');
    datagrams.send('an answer\n', port, address);
  });
  datagrams.bind(PORT);
  await once(datagrams, 'listening');
  const open = createHttpServer((request, response) => {
    if (request.url !== '/redirect') return response.end('permitted\n');
    response.writeHead(302, { location: `http://127.0.0.1:${PORT}/` });
    return response.end();
  });
  const OPEN = await portOf(open);
  const name = `/tmp/raymond-service-${PORT}`;
  const secretFile = `${name}-secret`;
  writeFileSync(secretFile, 'secret\n');
  const sockets = [name, `\0${name}`].map((path) =>
    createServer(() => heard.push('a connection by a socket')).listen(path),
  );
  const outside = spawn('/bin/sleep', ['600'], {
    stdio: [openSync(secretFile, 'r'), 'ignore', 'ignore'],
    ...theirs,
  });
  const MEMORY = 0x72610000 + PORT;
  execFileSync('perl', ['-e', `defined(shmget(${MEMORY}, 4096, 0600 | 01000)) or die $!`], theirs);
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  return {
    variables: {
      ...{ PORT: String(PORT), OPEN: String(OPEN), SOCKET: name, MEMORY: String(MEMORY) },
      ...{ OUTSIDE: String(outside.pid), PROGRAM: BIN, ADDRESS: own?.address ?? '127.0.0.1' },
    },
    heard: () => heard,
    later: (what: () => unknown) => laters.push(what),
    async close() {
      for (const later of laters) await later();
      outside.kill('SIGKILL');
      execFileSync('perl', ['-e', `shmctl(shmget(${MEMORY}, 0, 0), 0, 0)`]);
      for (const server of [service, open, ...sockets]) server.close();
      service.closeAllConnections();
      datagrams.close();
      rmSync(secretFile, { force: true });
    },
  };
}

async function portOf(server: Server): Promise<number> {
  server.listen(0);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
