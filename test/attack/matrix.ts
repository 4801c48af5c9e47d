/**
 * Attacks as classes: every file with authority × everything that can be done to a file or to the
 * folders above it × every moment. The attacker is a process with all rights of the user, but without
 * the user's key. `matrix-agent.ts` has the same for an agent.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Project } from '../raymond.ts';
import { AUTHORITIES, type Authority } from './authority.ts';
import { besideProject, MOMENTS, type Moment, meet, STAGES, type Staged, setUp } from './stages.ts';

export { suiteAges } from '../real-agent/claude-sandbox.ts';
export { playFileCommands } from './matrix-agent.ts';
export { AUTHORITIES, MOMENTS, STAGES };

export const OPERATIONS = [
  'rename it',
  'replace',
  'copy over',
  'hard link',
  'symlink',
  'truncate',
  'append',
  'restore an older copy',
  'folder away',
  'folder swapped',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Cell {
  readonly file: Authority;
  readonly operation: Operation;
  readonly moment: Moment;
}

export interface PlayedCell {
  readonly cell: Cell;
  /**
   * `ok`, why it is not defended, or what went wrong. The operations on folders are played for
   * each folder above the file, and the first failure is given.
   */
  readonly seen: string;
  /** What the person was told. */
  readonly told: readonly string[];
}

export const nameOf = ({ file, operation, moment }: Cell) =>
  `${file.name}: ${operation}, ${moment}`;

export const CELLS: readonly Cell[] = AUTHORITIES.flatMap((file) =>
  (file.moments ?? MOMENTS).flatMap((moment) =>
    OPERATIONS.filter((operation) => isPossible(file, operation)).map((operation) => ({
      file,
      operation,
      moment,
    })),
  ),
);

function isPossible({ older }: Authority, operation: Operation): boolean {
  return operation !== 'restore an older copy' || older !== undefined;
}

export const isGood = (seen: string) => seen === 'ok' || seen.startsWith('not defended');

/** Whether the cell is to be withstood. */
export const isDefended = ({ file, operation, moment }: Cell) =>
  file.undefended?.(operation, moment) === undefined;

/** With `outermost`, only the last of the folders above a file is renamed. */
export async function playCell(
  cell: Cell,
  folders: 'all' | 'outermost' = 'all',
): Promise<PlayedCell> {
  const reason = cell.file.undefended?.(cell.operation, cell.moment);
  if (reason !== undefined) return { cell, seen: `not defended: ${reason}`, told: [] };
  const told: string[] = [];
  for (let level = folders === 'all' ? 1 : Number.POSITIVE_INFINITY; ; level++) {
    const played = await playOnce(cell, level);
    told.push(...played.told);
    if (!isGood(played.seen)) return { cell, seen: played.seen, told };
    if (played.levels <= level) return { cell, seen: played.seen, told };
  }
}

/** Plays the payload of a row where nothing defends: it must be noticed. */
export async function playControl(file: Authority): Promise<'noticed' | 'NOT NOTICED'> {
  const { staged, dispose } = newScene(file.stage, 'between two commands');
  try {
    await setUp(staged);
    staged.said.length = 0;
    await file.control?.(staged);
    return /EXECUTED|BELIEVED/.test(judge(staged, file, false)) ? 'noticed' : 'NOT NOTICED';
  } finally {
    await dispose();
  }
}

/** Plays the run of a row without an attack: it says nothing of one. */
export async function playPeace(stage: Staged['stage'], moment: Moment): Promise<string> {
  const { staged, dispose } = newScene(stage, moment);
  try {
    await meet(staged, () => {});
    const told = linesToPerson(staged);
    if (told.length > 0) return `told without a reason: ${told.join(' / ')}`;
    return completed(staged) ? 'ok' : `not completed: ${allSaid(staged)}`;
  } finally {
    await dispose();
  }
}

/** `level` counts the folders above the file, and `levels` says how many there are. */
async function playOnce({ file, operation, moment }: Cell, level: number) {
  const { staged, dispose } = newScene(file.stage, moment);
  let levels = 1;
  let missing = false;
  try {
    await meet(staged, () => {
      staged.said.length = 0;
      const path = file.path(staged);
      if (path === undefined) {
        missing = true;
        return;
      }
      const folders = foldersAbove(staged, file, path);
      if (operation.startsWith('folder')) levels = folders.length;
      act(
        staged,
        file,
        operation,
        path,
        folders[Math.min(level, folders.length) - 1] ?? dirname(path),
      );
    });
    const told = linesToPerson(staged, file.tells);
    const seen = missing
      ? 'MISSING'
      : judge(
          staged,
          file.isUndone?.(operation, moment) ? { ...file, need: 'either' } : file,
          told.length > 0,
          operation.startsWith('folder'),
        );
    const where =
      seen !== 'ok' && operation.startsWith('folder') ? ` (folder ${Math.min(level, levels)})` : '';
    return { seen: `${seen}${where}`, told, levels };
  } finally {
    await dispose();
  }
}

function newScene(stage: Staged['stage'], moment: Moment) {
  const project = new Project({}, 'a project');
  const beside = besideProject(project);
  const token = `forged-${Math.random().toString(36).slice(2, 10)}`;
  const staged: Staged = { stage, project, moment, token, mark: beside('mark'), beside, said: [] };
  return { staged, dispose: () => project.dispose() };
}

/** From the nearest to the last that an attacker can move without moving the project. */
function foldersAbove(staged: Staged, file: Authority, path: string): readonly string[] {
  const last = file.below?.(staged) ?? staged.project.folder;
  const folders: string[] = [];
  for (let at = dirname(path); !relative(last, at).startsWith('..'); at = dirname(at)) {
    if (at === staged.project.folder) break;
    folders.push(at);
    if (at === last) break;
  }
  return folders;
}

function act(staged: Staged, file: Authority, operation: Operation, path: string, folder: string) {
  const forged = () => file.forged(staged, path);
  const aside = staged.beside('forged');
  const times = existsSync(path) ? statSync(path) : undefined;
  const write = (text: Uint8Array | string, to = aside) => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    writeFileSync(to, text, { mode: 0o600 });
    if (times) utimesSync(to, times.atime, times.mtime);
    return to;
  };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  switch (operation) {
    case 'rename it':
      if (times) renameSync(path, `${path}.away`);
      return;
    case 'replace':
      return renameSync(write(forged()), path);
    case 'copy over':
      return void write(forged(), path);
    case 'hard link': {
      const other = write(forged());
      rmSync(path, { force: true });
      return linkSync(other, path);
    }
    case 'symlink': {
      const other = write(forged());
      rmSync(path, { force: true });
      return symlinkSync(other, path);
    }
    case 'truncate':
      if (times) truncateSync(path, file.cut?.(path) ?? 0);
      return;
    case 'append':
      return appendFileSync(path, (file.appended ?? file.forged)(staged, path), { mode: 0o600 });
    case 'restore an older copy':
      return renameSync(write((file.older ?? file.forged)(staged, path)), path);
    case 'folder away':
      return renameSync(folder, staged.beside('away'));
    case 'folder swapped': {
      const copy = staged.beside('copy');
      execFileSync('cp', ['-a', folder, copy]);
      write(forged(), join(copy, relative(folder, path)));
      renameSync(folder, staged.beside('away'));
      return renameSync(copy, folder);
    }
  }
}

/** With a folder above the file, the journal may be gone too. Then it is enough to say so. */
function judge(staged: Staged, file: Authority, isTold: boolean, ofFolder = false): string {
  const { said, mark, token } = staged;
  if (existsSync(mark)) return 'EXECUTED';
  if (said.some(({ hasEnded }) => !hasEnded)) return 'HANGS';
  const isBelieved = said.some(
    ({ stdout, isLooking }) => stdout.includes(token) && !(isLooking && isTold),
  );
  if (isBelieved || file.betrayal?.(staged)) return 'BELIEVED';
  if (said.some(({ stderr }) => stderr.includes('This is a bug in Raymond'))) return 'CRASHED';
  switch (file.need) {
    case 'told':
      return isTold ? 'ok' : 'SILENT';
    case 'either':
      return isTold || completed(staged) ? 'ok' : 'SILENT';
    case 'intact':
      return completed(staged) || (ofFolder && isTold) ? 'ok' : 'LOST';
  }
}

function completed({ said, stage }: Staged): boolean {
  return said.some(({ stdout }) => stdout === `${STAGES[stage].result}\n`);
}

/** The lines of all commands that say that something is not as it was. */
function linesToPerson({ said }: Staged, more = WORDS): readonly string[] {
  const lines = said.flatMap(({ stdout, stderr }) => `${stderr}\n${stdout}`.split('\n'));
  return [
    ...new Set(
      lines.filter((line) => WORDS.test(line) || more.test(line)).map((line) => line.trim()),
    ),
  ];
}

/** A person who reads one of these knows that files are not as Raymond left them. */
const WORDS =
  /not yours|not started by you|not the (file|one)|no longer|replaced|(?<!file-)changed|is gone|are gone|was removed|does not exist|missing|does not match|do not match|\bcut\b|damaged|was moved|no run|refuse|takes no|does not use|\blinks?\b|not approved|ignored|is lost|was lost|cannot be (read|used)|not written by|second name|someone|there is no|already defined/i;

const allSaid = ({ said }: Staged) => said.map(({ stdout, stderr }) => stdout + stderr).join('');

/**
 * Cells, taken greedily, in which every feature of all cells occurs. With `single` these are each file,
 * operation and moment; with `pairs` each two of them together. What was taken least often is preferred.
 */
export function covering(cells: readonly Cell[], strength: 'single' | 'pairs'): readonly Cell[] {
  const featuresOf = ({ file, operation, moment }: Cell) =>
    strength === 'single'
      ? [file.name, operation, moment]
      : [`${file.name}/${operation}`, `${file.name}/${moment}`, `${operation}/${moment}`];
  const open = new Set(cells.flatMap(featuresOf));
  const uses = new Map<string, number>();
  const worth = (cell: Cell) => {
    const fresh = featuresOf(cell).filter((feature) => open.has(feature)).length;
    const used = (uses.get(cell.operation) ?? 0) + (uses.get(cell.moment) ?? 0);
    return fresh - used / (cells.length * 2 + 1);
  };
  const chosen: Cell[] = [];
  while (open.size > 0) {
    const best = cells.reduce((a, b) => (worth(b) > worth(a) ? b : a));
    for (const feature of featuresOf(best)) open.delete(feature);
    for (const use of [best.operation, best.moment]) uses.set(use, (uses.get(use) ?? 0) + 1);
    chosen.push(best);
  }
  return chosen;
}
