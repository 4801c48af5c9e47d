import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cureOf, isSystemError, reasonOf } from '../../journal/disk-errors.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { nearest } from '../../parse/nearest.ts';
import type { Here } from '../../world/surroundings.ts';
import { table } from '../look/table.ts';
import { limitProject } from '../operate/config.ts';
import { isAttended, stdout } from '../terminal/terminal.ts';
import { refuseLinkedPlace } from './linked-place.ts';

export interface InitOptions {
  readonly list?: boolean;
  readonly yes?: boolean;
  /** Confines all steps of the project. */
  readonly rights?: boolean;
}

export const TEMPLATES: ReadonlyMap<string, string> = new Map([
  ['plan-implement-review', 'plan a task, do it, have a fresh reviewer check it, repeat'],
  ['test-until-green', 'work on a task until the tests pass and a fresh reviewer approves'],
  ['parallel-fixes', 'fix the items of TODO.md in separate git worktrees, and merge them'],
  ['review-by-three', 'let three models review a change, and take the first two results'],
  ['research', 'split a question, answer each part separately, write a checked report'],
  ['release-approval', 'write release notes, ask a person, release only after a yes in time'],
  ['nightly-maintenance', 'wait for a quiet project, run chores, repair those that fail'],
  ['poll-and-process', 'wait for requests in a folder and process them one by one'],
  ['nightly-updates', 'update dependencies each night, and repair what they break'],
  ['issue-triage', 'label each new issue that a webhook reports'],
  ['inbox-folder', 'handle each new file in a folder'],
]);

/** Writes a working workflow into a folder. Never overwrites a file. */
export async function init(
  here: Here,
  template: string | undefined,
  folder: string | undefined,
  options: InitOptions,
): Promise<number> {
  if (options.list) {
    stdout.say(...table(['TEMPLATE', 'WHAT IT DOES'], [...TEMPLATES]));
    return 0;
  }
  if (template !== undefined) checkTemplate(template);
  if (options.rights) {
    await limitProject(here);
    if (template === undefined) return 0;
    stdout.say('');
  }
  const chosen = await choose(template, folder, options);
  if (!chosen) return 130;
  const target = resolve(chosen.folder);
  refuseLinkedPlace(target);
  await copyTemplate(chosen.template, target);
  stdout.say(...(await nextSteps(relative(process.cwd(), target) || '.')));
  return 0;
}

interface Choice {
  readonly template: string;
  readonly folder: string;
}

/** Asks a person at the terminal for missing arguments. Undefined if the person cancels. */
async function choose(
  template: string | undefined,
  folder: string | undefined,
  { yes }: InitOptions,
): Promise<Choice | undefined> {
  const isTerminal = isAttended(stdout);
  if (template !== undefined && (folder !== undefined || yes || !isTerminal))
    return { template, folder: folder ?? template };
  if (yes || !isTerminal) {
    throw wrongUsage('No template is named.', `Name one of ${[...TEMPLATES.keys()].join(', ')}.`);
  }
  const { cancel, isCancel, select, text } = await import('@clack/prompts');
  const wanted =
    template ??
    (await select({
      message: 'What should the workflow do?',
      options: [...TEMPLATES].map(([value, hint]) => ({ value, hint })),
    }));
  if (isCancel(wanted)) return void cancel('Nothing was written.');
  const place =
    folder ??
    (await text({ message: 'In which folder?', initialValue: wanted, validate: emptiness }));
  if (isCancel(place)) return void cancel('Nothing was written.');
  return { template: wanted, folder: place };
}

const emptiness = (folder: string | undefined) => (folder?.trim() ? undefined : 'Name a folder.');

function checkTemplate(name: string): void {
  if (TEMPLATES.has(name)) return;
  const meant = nearest(name, TEMPLATES.keys());
  throw wrongUsage(
    `There is no template "${name}".`,
    meant ? `Did you mean ${meant}?` : `Name one of ${[...TEMPLATES.keys()].join(', ')}.`,
  );
}

async function copyTemplate(template: string, target: string): Promise<void> {
  // Relative to dist/, which contains the bundle of this file.
  const source = fileURLToPath(new URL(`../templates/${template}`, import.meta.url));
  const names = await readdir(source);
  const existing = names.filter((name) => existsSync(join(target, name)));
  if (existing.length > 0)
    throw new UserError(
      'exists',
      `${target} already contains ${existing.join(', ')}. Nothing was written.`,
      'Name another folder.',
      { file: target },
    );
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    for (const name of names) {
      const content = await readFile(join(source, name));
      await writeFile(join(target, name), content, { mode: 0o600, flag: 'wx' });
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UserError(
      'unwritable',
      `${target} cannot be written: ${reasonOf(error)}.`,
      `${cureOf(error)}, or name another folder.`,
      { file: target },
    );
  }
}

async function nextSteps(folder: string): Promise<readonly string[]> {
  const path = shellWord(folder);
  const manifest = await readFile(join(folder, 'workflow.yaml'), 'utf8').catch(() => '');
  return [
    `Wrote the workflow to ${folder}. Next steps:`,
    '',
    `  raymond test ${path}                 play its tests`,
    `  raymond ${path} --rehearse           see it run, without a model and without cost`,
    `  raymond ${path} --input "your task"  run it`,
    ...(/^triggers:/m.test(manifest)
      ? [
          `  raymond trust ${path}                let its triggers start it`,
          `  raymond up ${' '.repeat(path.length)}                   keep the triggers of this project`,
        ]
      : []),
    '',
    'Then edit the states. Each file is one state.',
  ];
}
