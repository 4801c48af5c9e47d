import { diff as diffOf, type WantedDiff } from '../../app/diff.ts';
import { runToSee } from '../../app/find-run.ts';
import type { ChangedFile, ChangedFolder, Diff } from '../../look/diff-shape.ts';
import { counted } from '../../model/counted.ts';
import type { Tone } from '../../observe/screen.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

export interface DiffOptions {
  readonly stat?: boolean;
  readonly json?: boolean;
}

/** Prints the changes of files as `git apply` reads them, or a line for each file. */
export async function diff(
  here: Here,
  name: string | undefined,
  part: string | undefined,
  { stat, json }: DiffOptions,
): Promise<number> {
  const around = await here();
  const id = await runToSee(around.store, name);
  const found = await diffOf(around, id, partNamed(part));
  if (json) {
    stdout.json(found, 2);
    return 0;
  }
  for (const folder of found.folders) {
    if (found.folders.length > 1 || folder.branch !== null) stderr.say(headOf(folder));
    if (folder.problem !== null) stderr.say(`${folder.folder}: ${folder.problem}`);
    if (stat) for (const file of folder.files) stdout.rows(statLine(file));
    else for (const file of folder.files) await print(file);
    if (folder.more > 0) stderr.say(`${counted(folder.more, 'more file')}`);
    if (folder.others.length > 0) stderr.say(togetherText(folder));
  }
  const files = found.folders.flatMap((folder) => folder.files);
  if (stat || files.length === 0) stderr.say(sumText(files));
  for (const line of gapsIn(found)) stderr.say(line);
  return 0;
}

/** `main`, or `main:4`. */
function partNamed(text: string | undefined): WantedDiff {
  if (text === undefined) return {};
  const [, agent, step] = /^(.+):([1-9]\d{0,8})$/.exec(text) ?? [];
  return agent === undefined ? { agent: text } : { agent, step: Number(step) };
}

function headOf({ folder, branch, merged }: ChangedFolder): string {
  if (branch === null) return folder;
  const fate = merged === null ? '' : merged ? ', merged' : ', not merged';
  return `${folder} (branch ${branch}${fate})`;
}

const togetherText = ({ folder, others }: ChangedFolder) =>
  `${others.slice(0, 5).join(', ')}${others.length > 5 ? ' and others' : ''} worked in ${folder} at the same time, so their changes may be included.`;

async function print({ path, patch, omitted }: ChangedFile): Promise<void> {
  const text = patch ?? `# ${path}: ${OMITTED[omitted ?? 'large']}\n`;
  if (!stdout.isTerminal()) return stdout.document(text);
  const lines = text.replace(/\n$/, '').split('\n');
  stdout.rows(...lines.map((line) => [{ text: line, tone: toneOf(line) }]));
}

const OMITTED = {
  binary: 'the file is no text',
  large: 'the file is too large to show',
  many: 'left out, because too many files have changed',
} as const;

function toneOf(line: string): Tone {
  if (line.startsWith('+')) return 'good';
  if (line.startsWith('-')) return 'bad';
  return line.startsWith(' ') ? 'plain' : 'faint';
}

function statLine({ path, was, kind, added, removed, omitted }: ChangedFile): string {
  const name = was === null ? path : `${was} -> ${path}`;
  const lines = omitted === null ? `+${added} -${removed}` : omitted;
  return `${kind.padEnd(8)} ${lines.padEnd(12)} ${name}`;
}

function sumText(files: readonly ChangedFile[]): string {
  if (files.length === 0) return 'No recorded step has changed a file.';
  const sum = (of: 'added' | 'removed') => files.reduce((all, file) => all + file[of], 0);
  return `${counted(files.length, 'file')}, ${sum('added')} lines added, ${sum('removed')} removed`;
}

function gapsIn({ unrecorded, running, recorded }: Diff): readonly string[] {
  const none = recorded === 0 ? 'Files are recorded in git repositories only. ' : '';
  return [
    ...(unrecorded > 0
      ? [
          `${counted(unrecorded, 'step')} ${unrecorded === 1 ? 'has' : 'have'} no record of files. ${none}A script of less than a second is recorded with --checkpoints steps.`,
        ]
      : []),
    ...(running > 0 ? [`${counted(running, 'step')} not over yet.`] : []),
  ];
}
