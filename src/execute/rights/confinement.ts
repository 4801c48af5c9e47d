/**
 * What the processes of a step see and may change, as a list of places. Deeper places count more than
 * those above them. `bubblewrap.ts` and `sandbox-runtime.ts` give it to the kernel.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isWithin, readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import type { ConfiguredAgent } from '../../model/configured-agent.ts';
import type { StepRights } from '../../model/rights.ts';
import { realOf } from '../agents/protected-files.ts';
import { commandFilesIn, newCommandFilesIn } from './command-places.ts';
import { programFiles } from './program-files.ts';

export interface Confinement {
  readonly cwd: string;
  /** A folder for temporary files, where the sandbox cannot give the step a /tmp of its own. */
  readonly temporary: string;
  /** Those above come before those below. */
  readonly places: readonly Placed[];
  readonly network: StepRights['network'];
  /** A folder that no step can change, for files of the sandbox. */
  readonly ownFolder: string;
  /** What it changes and reaches is recorded, except for the hosts of the agent itself. */
  readonly learns?: { readonly ownHosts: readonly string[] };
  readonly secrets?: ConfinedSecrets | undefined;
}

interface ConfinedSecrets {
  readonly names: readonly string[];
  /** The hosts for which the sandbox replaces stand-ins; absent if the step sees the values. */
  readonly standInsFor?: readonly string[];
  /** Called only when a process begins, so that nothing else has a value. */
  readonly valueOf: (name: string) => string;
}

export interface Placed {
  readonly path: string;
  /**
   * `seen` and `read` cannot be changed, and only the second also applies to a path that the author lets
   * the step write. `hidden` is empty inside of the sandbox, `fresh` is empty and can be written.
   */
  readonly access: 'seen' | 'write' | 'fresh' | 'read' | 'hidden';
}

/** What an agent needs for its own work. */
export interface AgentNeeds {
  /** Files and folders that it changes, such as its sessions. */
  readonly writes: readonly string[];
  /** Files in them that act as commands. */
  readonly keeps: readonly string[];
  /** Credentials of its own, which are hidden from everybody else. */
  readonly reads: readonly string[];
  readonly hosts: readonly string[];
}

export interface ConfinedStep {
  readonly cwd: string;
  /** The agent's own folder, if it has one. */
  readonly taskFolder?: string | undefined;
}

export interface Guarded {
  /** Files and folders that nothing in a run may change. */
  readonly protects: readonly string[];
  /** Folders of the user with keys and approvals. */
  readonly hides: readonly string[];
  /** Folders that a step has to see, wherever they are. */
  readonly shows: readonly string[];
  /** One of the hidden folders. */
  readonly ownFolder: string;
}

export function confinementOf(
  rights: StepRights,
  { cwd, taskFolder }: ConfinedStep,
  { protects, hides, shows, ownFolder }: Guarded,
  needs: AgentNeeds = NO_NEEDS,
): Confinement {
  const { real, exists } = looker();
  const credentials = CREDENTIALS.map(inHome).filter((path) => !needs.reads.includes(path));
  const hidden = [
    '/run',
    ...credentials,
    ...hides,
    ...rights.hide.map((path) => absolute(path, cwd)),
  ];
  // A deeper place counts more, so a path in one of these must not be written by its own name.
  const isKept = keptBy([...hidden, ...protects, ...needs.keeps].map(real), real(cwd));
  const written = writablePaths(rights.write, cwd, isKept);
  // So that the step can fill it.
  for (const path of written) if (!lookAt(path)) mkdirSync(path, { recursive: true });
  const own = taskFolder === undefined ? [] : [taskFolder];
  const roots = written.filter((path) => attempt(() => lstatSync(path).isDirectory()) ?? false);
  const programs = programFiles().filter((path) => written.some((one) => isWithin(one, path)));
  const placed = (access: Placed['access'], paths: readonly string[]): readonly Placed[] =>
    paths.filter(exists).map((path) => ({ path: real(path), access }));
  const places = [
    ...placed('fresh', ['/tmp', '/var/tmp']),
    ...placed('hidden', hidden),
    ...placed('seen', [cwd, ...shows, ...needs.reads]),
    ...placed('read', [...protects, ...programs, ...roots.flatMap(commandFilesIn), ...needs.keeps]),
    ...placed('write', [...written, ...own, ...needs.writes, ...roots.flatMap(gitFoldersOf)]),
  ];
  return {
    cwd,
    temporary: join(taskFolder ?? cwd, 'tmp'),
    // A link that leads nowhere cannot be mounted.
    places: pinned(inOrder(places.filter(({ path }) => existsSync(path)))),
    network: rights.network === 'all' ? 'all' : [...rights.network, ...needs.hosts],
    ownFolder,
    ...(rights.learns && { learns: { ownHosts: needs.hosts } }),
  };
}

/** The host and port of an address that a person has configured for an agent. */
export function hostsAt(address: string | undefined): readonly string[] {
  if (!address || !URL.canParse(address)) return [];
  const { hostname, port, protocol } = new URL(address);
  return [`${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`];
}

/** The hosts of the addresses in a configuration of an agent, such as `base_url = "https://…"`. */
export function hostsIn(configuration: string | undefined): readonly string[] {
  const found = (configuration ?? '').matchAll(/base_?url["']?\s*[:=]\s*["']([^"'\s]+)["']/gi);
  return [...found].flatMap(([, address]) => hostsAt(address));
}

/** The same, from a file. A large one has none. */
export function hostsInFile(file: string): readonly string[] {
  return hostsIn(attempt(() => readIfSmallSync(file, MOST_BYTES).bytes)?.toString());
}

const MOST_BYTES = 1024 * 1024;

/** What the user says about an agent is added to what Raymond knows. */
export function withOwn(
  needs: AgentNeeds,
  { hosts = [], writes = [] }: Pick<ConfiguredAgent, 'hosts' | 'writes'> = {},
): AgentNeeds {
  return {
    ...needs,
    writes: [...needs.writes, ...writes],
    reads: [...needs.reads, ...writes],
    hosts: [...needs.hosts, ...hosts],
  };
}

export const NO_NEEDS: AgentNeeds = { writes: [], keeps: [], reads: [], hosts: [] };

/**
 * Like `realOf`, for many paths with the same folders above them. Looks at each of them once. What it knows
 * is never used for another step, because agents change files meanwhile.
 */
function looker() {
  const known = new Map<string, { readonly exists: boolean; readonly real: string }>();
  const look = (path: string): { readonly exists: boolean; readonly real: string } => {
    const before = known.get(path);
    if (before) return before;
    const parent = dirname(path);
    const found = lookAt(path);
    const isPlain = parent !== path && !found?.isSymbolicLink();
    const real = isPlain ? joined(look(parent).real, basename(path)) : realOf(path);
    const seen = { exists: found !== undefined, real };
    known.set(path, seen);
    return seen;
  };
  return { exists: (path: string) => look(path).exists, real: (path: string) => look(path).real };
}

const lookAt = (path: string) => attempt(() => lstatSync(path, { throwIfNoEntry: false }));

/** Of paths that need no normalization, which takes longer than a look at the file. */
const joined = (folder: string, name: string) =>
  folder === '/' ? `/${name}` : `${folder}/${name}`;

/** Of two entries for one path, the stricter one counts. */
function inOrder(places: readonly Placed[]): readonly Placed[] {
  const byPath = new Map<string, Placed>();
  for (const place of places) {
    const other = byPath.get(place.path);
    if (!other || STRICTNESS[place.access] > STRICTNESS[other.access])
      byPath.set(place.path, place);
  }
  return [...byPath.values()].sort((a, b) => a.path.length - b.path.length);
}

/**
 * A mounted folder cannot be renamed, but a folder around it can. Someone could then put another one in its
 * place, so each folder between a writable one and what is kept in it is mounted as well.
 */
function pinned(places: readonly Placed[]): readonly Placed[] {
  const kept = places.filter(({ access }) => access === 'read' || access === 'hidden');
  const pins = kept.flatMap(({ path }) => {
    const around = places.findLast((one) => one.path !== path && isWithin(one.path, path));
    return around?.access === 'write' ? foldersBetween(around.path, path) : [];
  });
  return pins.length === 0
    ? places
    : inOrder([...places, ...pins.map((path) => ({ path, access: 'write' }) as const)]);
}

function foldersBetween(above: string, below: string): readonly string[] {
  const folder = dirname(below);
  return folder === above ? [] : [...foldersBetween(above, folder), folder];
}

const STRICTNESS = { seen: 0, write: 1, fresh: 2, read: 3, hidden: 4 } as const;

/**
 * The paths that all levels allow. A relative path must not lead out of the directory through a link: an
 * agent could have made it.
 */
function writablePaths(
  levels: StepRights['write'],
  cwd: string,
  isKept: (path: string) => boolean,
): readonly string[] {
  const home = realOf(cwd);
  const lists = (levels.length === 0 ? [['.']] : levels).map((paths) =>
    paths.flatMap((path) => {
      const real = realOf(absolute(path, cwd));
      const isOwn = path.startsWith('/') || path.startsWith('~');
      return isOwn || isWithin(home, real) ? real : [];
    }),
  );
  const allowed = lists
    .flat()
    .filter((path) => lists.every((list) => list.some((one) => isWithin(one, path))));
  return [...new Set(allowed)].filter((path) => !isKept(path));
}

/** The command files at the top of what a step may write that it made since a moment. */
export function newCommandFiles(
  { write }: Pick<StepRights, 'write'>,
  cwd: string,
  sinceMs: number,
): readonly string[] {
  const roots = writablePaths(write, cwd, () => false);
  return [...new Set(roots.flatMap((root) => newCommandFilesIn(root, sinceMs)))];
}

/**
 * Whether a path is in one of these, or in what acts as commands of a git repository. Those that contain
 * the directory of the step do not count: a worktree is in the folder of Raymond.
 */
function keptBy(kept: readonly string[], home: string): (path: string) => boolean {
  const places = kept.filter((place) => !isWithin(place, home));
  return (path) => places.some((place) => isWithin(place, path)) || isCommandOfGit(path);
}

const isCommandOfGit = (path: string) => GIT_COMMANDS.test(path);

function absolute(path: string, cwd: string): string {
  return path === '~' || path.startsWith('~/') ? inHome(path.slice(2)) : resolve(cwd, path);
}

const inHome = (path: string) => join(homedir(), path);

const GIT_COMMANDS =
  /\/\.git\/(?:config|config\.worktree|hooks|info|modules|worktrees|commondir)(?:\/|$)/;

/** What git changes outside of a worktree when an agent commits there. */
function gitFoldersOf(root: string): readonly string[] {
  const link = attempt(() => readFileSync(join(root, '.git'), 'utf8'));
  const folder = link?.match(/^gitdir: (.+)$/m)?.[1];
  if (folder === undefined) return [];
  const own = resolve(root, folder);
  const common = attempt(() => readFileSync(join(own, 'commondir'), 'utf8'))?.trim();
  // Only a worktree of git has this file. Another link is not followed.
  if (common === undefined || dirname(dirname(own)) !== resolve(own, common)) return [];
  return [own, ...['objects', 'refs', 'logs'].map((name) => join(resolve(own, common), name))];
}

/** Where programs keep credentials, in the home folder. */
export const CREDENTIALS: readonly string[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.netrc', '.git-credentials'],
  ...['.npmrc', '.pypirc', '.cargo/credentials', '.cargo/credentials.toml', '.m2/settings.xml'],
  ...[
    '.config/gcloud',
    '.config/gh',
    '.config/glab-cli',
    '.config/hub',
    '.config/op',
    '.config/doctl',
  ],
  ...['.terraform.d', '.terraformrc', '.pgpass', '.my.cnf', '.password-store', '.vault-token'],
  ...['.claude', '.claude.json', '.codex', '.gemini', '.qwen', '.copilot', '.local/share/opencode'],
  ...['.config/opencode', '.pi'],
  ...['.local/share/keyrings', '.mozilla', '.config/google-chrome', '.config/chromium'],
  ...['Library/Keychains', 'Library/Cookies', 'Library/Safari', 'Library/Mobile Documents'],
  ...['Library/Application Support/Google/Chrome', 'Library/Application Support/Firefox'],
  ...['.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history'],
];
