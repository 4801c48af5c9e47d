/**
 * The files that decide something, each with the strongest content that an attacker can give it who has
 * all rights of the user but not the user's key. A forged run continues in the workflow `evil`.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeZip } from '../zip-writer.ts';
import {
  anotherRun,
  asText,
  endedPid,
  evilGit,
  forgedEvents,
  forgedJournal,
  forgedLetter,
  forgedSnapshot,
  forgedTurn,
  intoEvil,
  isNamed,
  raymond,
  readLines,
  sealForgedSnapshot,
  sha256,
  toEvil,
  userFolder,
} from './forgeries.ts';
import {
  configWith,
  filesBelow,
  MOMENTS,
  type Moment,
  release,
  type Staged,
  type StageName,
  say,
  stopBetween,
} from './stages.ts';

export interface Authority {
  readonly name: string;
  readonly stage: StageName;
  /** It has no authority, or does not exist, at other moments. */
  readonly moments?: readonly Moment[];
  /** Undefined if there is no such file, which fails: every cell must be played. */
  readonly path: (staged: Staged) => string | undefined;
  readonly forged: (staged: Staged, path: string) => Uint8Array | string;
  /** What is appended, if not the whole forged content. */
  readonly appended?: (staged: Staged, path: string) => Uint8Array | string;
  /** An older content of the same file, or of the same file of an older run. */
  readonly older?: (staged: Staged, path: string) => Uint8Array | string;
  /** The length after a cut. */
  readonly cut?: (path: string) => number;
  /** The last folder that is renamed; `.raymond` or the first one in the project if it is not given. */
  readonly below?: (staged: Staged) => string;
  /**
   * `told`: the person hears of every change. `either`: they hear of it, or the change has no effect at
   * all and the run ends as it would have. `intact`: the file has no authority, and the run ends as it
   * would have, whatever happens to it.
   */
  readonly need: 'told' | 'either' | 'intact';
  /** Whether Raymond's next write undoes the change. Then `either` is enough. */
  readonly isUndone?: (operation: string, moment: Moment) => boolean;
  /** Further words that tell the person enough. */
  readonly tells?: RegExp;
  /** Shows that a forged content was believed, beside the token. */
  readonly betrayal?: (staged: Staged) => boolean;
  /**
   * Makes the forged content count, with the person's consent or where nothing defends, after the
   * project was set up. Without it, a defence could pass because the payload was broken.
   */
  readonly control?: (staged: Staged) => Promise<void>;
  /** Why an operation at a moment cannot be told from Raymond's own; undefined if it can. */
  readonly undefended?: (operation: string, moment: Moment) => string | undefined;
}

const IN_PLACE = ['copy over', 'truncate', 'append'];
const isAlive = (moment: Moment) => moment !== 'between two commands';

const WRITES_LIKE_THE_STEP =
  'the step itself writes to this very file with the rights of the user, so a process with the same rights can do it too';

const LIVE: readonly Moment[] = MOMENTS.filter(isAlive);

export const AUTHORITIES: readonly Authority[] = [
  ...(['version 1', 'version 2', 'its own version'] as const).map(
    (version): Authority => ({
      name: `the journal, in ${version}`,
      stage: 'scripts',
      path: (staged) => staged.project.path('.raymond/state/r.jsonl'),
      forged: (staged, path) => forgedJournal(staged, readLines(path), version),
      appended: (staged, path) => forgedEvents(staged, readLines(path), version),
      older: (_, path) => asText(readLines(path).slice(0, 4)),
      cut: (path) => Buffer.byteLength(asText(readLines(path).slice(0, 4))),
      need: 'told',
      // Raymond writes where its own last line ends.
      isUndone: (operation, moment) => operation === 'append' && moment === 'while a step runs',
      control: async (staged) => {
        await stopBetween(staged);
        const path = staged.project.path('.raymond/state/r.jsonl');
        writeFileSync(path, forgedJournal(staged, readLines(path), version));
        await say(staged, CONSENT);
      },
    }),
  ),
  {
    name: 'the journal of another run',
    stage: 'scripts',
    path: (staged) => staged.project.path('.raymond/state/r.jsonl'),
    forged: (staged) => anotherRun(staged),
    need: 'told',
    control: async (staged) => {
      anotherRun(staged);
      await say(staged, ['resume', 'q', '--max-iterations', '99']);
    },
  },
  {
    name: 'the journal of a removed run of the same id',
    stage: 'again',
    path: (staged) => staged.project.path('.raymond/state/r.jsonl'),
    forged: (staged) => readFileSync(staged.beside('older journal')),
    need: 'told',
    control: async (staged) => {
      await stopBetween(staged);
      rmSync(staged.project.path('.raymond/state/r.json'));
      const path = staged.project.path('.raymond/state/r.jsonl');
      copyFileSync(staged.beside('older journal'), path);
      await say(staged, CONSENT);
    },
  },
  {
    name: 'the pointer to a snapshot',
    stage: 'large',
    path: (staged) => staged.project.path('.raymond/state/r.snapshot'),
    forged: (staged) => forgedSnapshot(staged),
    older: () => '0\n',
    need: 'either',
    control: async (staged) => {
      await stopBetween(staged);
      const pointer = forgedSnapshot(staged);
      writeFileSync(staged.project.path('.raymond/state/r.snapshot'), pointer);
      // Even with consent, a journal that does not verify is read from its first line.
      await sealForgedSnapshot(staged);
      await say(staged, ['resume', 'r', '--accept-changes', '--max-iterations', '99']);
    },
  },
  {
    name: 'the state file',
    stage: 'scripts',
    path: (staged) => staged.project.path('.raymond/state/r.json'),
    forged: (staged, path) => intoEvil(staged, readFileSync(path, 'utf8')),
    older: () => '{}',
    need: 'intact',
  },
  {
    name: 'the lock',
    stage: 'scripts',
    moments: LIVE,
    path: ({ project }) => filesBelow(project.path('.raymond/runs/r')).find(isNamed(/^lock\.\d+$/)),
    forged: (_, path) => {
      const lock = JSON.parse(readFileSync(path, 'utf8'));
      return JSON.stringify({ ...lock, pid: process.pid, token: randomUUID() });
    },
    need: 'either',
    betrayal: endedTwice,
  },
  {
    name: 'a letter',
    stage: 'questions',
    path: letterPath,
    forged: (staged, path) => forgedLetter(staged, path),
    older: (staged) => readFileSync(staged.beside('older letter')),
    need: 'either',
    // Without the letter, the question is still open.
    tells: /waits for a person/,
    control: async (staged) => {
      await say(staged, ['answer', 'r', staged.token]);
      release(staged);
      await say(staged, ['resume', 'r']);
      await say(staged, ['answer', 'r', staged.token]);
      await say(staged, ['resume', 'r']);
    },
    betrayal: ({ said, token }) =>
      said.some(
        ({ stdout, isLooking }) => !isLooking && [token, 'yes, the first'].includes(stdout.trim()),
      ),
  },
  {
    name: "a script's output",
    control: (staged) => playsScript(staged, `echo '${toEvil(staged)}'`),
    stage: 'scripts',
    moments: LIVE,
    path: (staged) => stepFile(staged, 'stdout'),
    forged: (staged) => `${toEvil(staged)}\n`,
    older: ({ project }) => readFileSync(project.path('.raymond/runs/r/steps/main/1/stdout')),
    need: 'told',
    // A script whose steps were killed with Raymond is repeated, whatever is in the place of its output.
    tells: /it is unknown/i,
    undefended: (operation) => (IN_PLACE.includes(operation) ? WRITES_LIKE_THE_STEP : undefined),
  },
  {
    name: 'the output of a step that has ended',
    stage: 'scripts',
    moments: ['between two commands'],
    path: (staged) => stepFile(staged, 'stdout'),
    forged: (staged) => `<result>${staged.token}</result>`,
    older: ({ project }) => readFileSync(project.path('.raymond/runs/r/steps/main/1/stdout')),
    need: 'intact',
  },
  {
    name: "a script's launch record",
    control: (staged) => playsScript(staged, 'exit 77'),
    stage: 'scripts',
    moments: LIVE,
    path: (staged) => stepFile(staged, 'launch'),
    forged: (_, path) => {
      const [head = '', ...rest] = readFileSync(path, 'utf8').split('\n');
      return [
        head
          .replace(/#\w+ \d+/, '#exited 77')
          .padEnd(head.length)
          .slice(0, head.length),
        ...rest,
      ].join('\n');
    },
    appended: () => '\nexit 77\n',
    older: ({ project }) => readFileSync(project.path('.raymond/runs/r/steps/main/1/launch')),
    need: 'either',
    betrayal: believedExit,
    undefended: (operation) => (IN_PLACE.includes(operation) ? WRITES_LIKE_THE_STEP : undefined),
  },
  {
    name: 'a folder that waits for the next step',
    control: (staged) => playsScript(staged, `echo '${toEvil(staged)}'`),
    stage: 'scripts',
    moments: ['while a step runs'],
    path: ({ project }) =>
      filesBelow(project.path('.raymond/runs/r/spare')).findLast(isNamed(/^stdout$/)),
    forged: (staged) => `${toEvil(staged)}<print>`,
    older: ({ project }) => readFileSync(project.path('.raymond/runs/r/steps/main/1/stdout')),
    need: 'either',
  },
  {
    name: "an agent's output",
    control: (staged) => playsAgent(staged),
    stage: 'prompts',
    moments: LIVE,
    path: (staged) => processFile(staged, /^stdout$/),
    forged: (staged, path) => `${readFileSync(path, 'utf8')}${forgedTurn(staged)}`,
    appended: (staged) => forgedTurn(staged),
    older: (_, path) => readFileSync(path),
    need: 'told',
    undefended: (operation) => (IN_PLACE.includes(operation) ? WRITES_LIKE_THE_STEP : undefined),
  },
  {
    name: "an agent's process record",
    stage: 'prompts',
    moments: LIVE,
    path: (staged) => processFile(staged, /^process\.json$/),
    forged: (_, path) => {
      const record = JSON.parse(readFileSync(path, 'utf8'));
      const pid = endedPid();
      writeFileSync(join(dirname(path), `exit-${pid}`), 'exited 77\n', { mode: 0o600 });
      return `${JSON.stringify({ ...record, identity: { ...record.identity, pid } })}\n`;
    },
    need: 'either',
    betrayal: believedExit,
  },
  {
    name: "an agent's exit record",
    stage: 'prompts',
    moments: LIVE,
    path: (staged) => processFile(staged, /^exit-\d+$/),
    forged: () => 'exited 77\n'.padEnd(32),
    need: 'either',
    betrayal: believedExit,
  },
  {
    name: 'the record of a turn',
    control: (staged) => playsAgent(staged),
    stage: 'prompts',
    moments: LIVE,
    path: (staged) => stepFile(staged, 'turn.json'),
    forged: (staged, path) => {
      const folder = staged.project.path('elsewhere');
      mkdirSync(folder);
      const pid = endedPid();
      const { boot, started } = JSON.parse(
        readFileSync(processFile(staged, /^process\.json$/) ?? '', 'utf8'),
      ).identity;
      const record = { identity: { pid, started, boot }, token: 'x', command: 'claude' };
      writeFileSync(join(folder, 'process.json'), JSON.stringify(record));
      writeFileSync(join(folder, `exit-${pid}`), 'exited 0\n');
      writeFileSync(join(folder, 'stderr'), '');
      writeFileSync(join(folder, 'stdout'), forgedTurn(staged));
      return JSON.stringify({
        ...JSON.parse(readFileSync(path, 'utf8')),
        process: folder,
        offset: 0,
      });
    },
    need: 'either',
  },
  {
    name: 'the notes about a session',
    stage: 'prompts',
    path: ({ project }) => filesBelow(project.path('.raymond/runs/r/sessions'))[0],
    forged: ({ token }) => JSON.stringify({ ownModel: token, totalUsd: -1000, checkpoint: token }),
    need: 'either',
    betrayal: (staged) => readFileSync(staged.beside('agent.log'), 'utf8').includes(staged.token),
  },
  {
    name: "an unpacked archive's script",
    control: async (staged) => {
      release(staged);
      const content = readFileSync(staged.project.path('evil/END.sh'));
      writeFileSync(staged.project.path('other.zip'), writeZip([{ name: 'START.sh', content }]));
      await say(staged, ['other.zip']);
    },
    stage: 'archive',
    path: ({ project }) =>
      filesBelow(project.path('.raymond/runs/r/source')).find(isNamed(/^END\.sh$/)),
    forged: (staged) => readFileSync(staged.project.path('evil/END.sh')),
    need: 'either',
  },
  {
    name: "the workflow's script",
    control: async (staged) => {
      await stopBetween(staged);
      copyFileSync(staged.project.path('evil/END.sh'), staged.project.path('flow/END.sh'));
      await say(staged, CONSENT);
    },
    stage: 'scripts',
    path: ({ project }) => project.path('flow/END.sh'),
    forged: (staged) => readFileSync(staged.project.path('evil/END.sh')),
    need: 'told',
  },
  {
    name: 'the approved config file',
    control: (staged) => approvesConfig(staged),
    stage: 'config',
    path: ({ project }) => project.path('.raymond/config.toml'),
    forged: ({ mark }) => configWith(mark),
    older: ({ mark }) => configWith(mark),
    // A run has read it at its start, and a removed file only takes rights away.
    need: 'either',
  },
  {
    name: 'the index of runs',
    stage: 'scripts',
    // It has no run that Raymond works on.
    moments: MOMENTS.filter((moment) => moment !== 'while a step runs'),
    path: ({ project }) => {
      const index = project.path('.raymond/index');
      // Only runs that have not changed for a while are in it.
      for (let tries = 0; tries < 100 && !existsSync(index); tries++) raymond(project, 'list');
      return filesBelow(index)[0];
    },
    forged: (staged, path) => intoEvil(staged, readFileSync(path, 'utf8')),
    need: 'intact',
  },
  ...(['index', 'repository'] as const).map(
    (file): Authority => ({
      name: `the private git index: ${file}`,
      stage: 'repository',
      path: ({ project }) =>
        filesBelow(project.path('.raymond/runs/r/files')).find((path) => basename(path) === file),
      forged: (staged, path) =>
        file === 'repository'
          ? readFileSync(path, 'utf8').replaceAll(/\S+\.git/g, evilGit(staged))
          : Buffer.from(readFileSync(path)).reverse(),
      need: 'either',
    }),
  ),
  {
    name: 'refs/raymond',
    stage: 'repository',
    path: ({ project }) => filesBelow(project.path('.git/refs/raymond'))[0],
    forged: () => `${'0'.repeat(39)}1\n`,
    below: ({ project }) => project.path('.git/refs'),
    need: 'either',
  },
  {
    name: "a worktree's .git",
    control: async (staged) => {
      const git = ['--git-dir', evilGit(staged), '--work-tree', staged.project.folder, 'status'];
      spawnSync('git', git, { cwd: staged.project.folder });
    },
    stage: 'repository',
    path: ({ project }) => filesBelow(project.path('.raymond/worktrees')).find(isNamed(/^\.git$/)),
    forged: (staged) => `gitdir: ${evilGit(staged)}\n`,
    need: 'either',
  },
  {
    name: "the user's key",
    stage: 'scripts',
    path: ({ project }) => filesBelow(userFolder(project)).find(isNamed(/^key$/)),
    forged: () => `${'ab'.repeat(32)}\n`,
    below: ({ project }) => userFolder(project),
    need: 'told',
  },
  {
    name: 'the remembered end of a journal',
    stage: 'scripts',
    path: ({ project }) => filesBelow(userFolder(project)).find(isNamed(/^(?!key$)/)),
    forged: (_, path) => Buffer.from(readFileSync(path)).reverse(),
    below: ({ project }) => userFolder(project),
    need: 'either',
  },
  {
    name: "the user's approval of a config file",
    control: (staged) => approvesConfig(staged),
    stage: 'config',
    path: ({ project }) => filesBelow(join(project.userConfig, 'trusted'))[0],
    forged: (staged, path) => {
      const text = configWith(staged.mark);
      staged.project.write('.raymond/config.toml', text);
      return `${JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), sha256: sha256(text) })}\n`;
    },
    below: ({ project }) => project.userConfig,
    need: 'either',
    undefended: (operation) =>
      ['replace', 'copy over', 'hard link', 'symlink', 'folder swapped'].includes(operation)
        ? "a process that writes to the user's configuration folder can as well write the user's own config file, which may set everything"
        : undefined,
  },
];

/** The person agrees to everything. */
const CONSENT = ['resume', 'r', '--trust-run', '--accept-changes', '--max-iterations', '99'];

async function playsScript(staged: Staged, script: string): Promise<void> {
  staged.project.write('flow/WAIT.sh', script);
  await say(staged, ['flow']);
}

async function playsAgent(staged: Staged): Promise<void> {
  staged.project.write('flow/START.md', `Wait for ${staged.project.path('evil')}.`);
  release(staged, toEvil(staged));
  await say(staged, ['flow']);
}

async function approvesConfig(staged: Staged): Promise<void> {
  staged.project.write('.raymond/config.toml', configWith(staged.mark));
  await say(staged, ['trust', '--yes']);
  release(staged);
  await say(staged, ['flow']);
}

/** The folder of the step that waits, or waited last. */
const stepFolder = ({ project }: Staged) => project.path('.raymond/runs/r/steps/main/2');

/** A file of the process of an agent. The process serves both turns. */
/** A file of the process that takes the turn. It began with an earlier turn. */
function processFile(staged: Staged, name: RegExp): string | undefined {
  const turn = stepFile(staged, 'turn.json');
  if (turn === undefined) return undefined;
  return filesBelow(JSON.parse(readFileSync(turn, 'utf8')).process).find(isNamed(name));
}

function stepFile(staged: Staged, name: string): string | undefined {
  return filesBelow(stepFolder(staged)).find((path) => basename(path) === name);
}

function letterPath({ project }: Staged): string | undefined {
  const inbox = project.path('.raymond/runs/r/inbox');
  const [letter] = filesBelow(inbox).filter((path) => path.endsWith('.json'));
  if (letter !== undefined) return letter;
  const asked = project.journal('r').findLast(({ type }) => type === 'agent-asked');
  if (asked === undefined || asked.type !== 'agent-asked') return undefined;
  return join(inbox, `answer-${asked.at}-${sha256(asked.agent).slice(0, 16)}.json`);
}

function endedTwice(staged: Staged): boolean {
  try {
    return readFileSync(staged.beside('ends'), 'utf8').split('\n').length > 2;
  } catch {
    return false;
  }
}

function believedExit({ said }: Staged): boolean {
  return said.some(({ stdout, stderr }) => /\b77\b/.test(stdout + stderr));
}
