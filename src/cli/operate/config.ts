import { replaceFile } from '../../journal/disk.ts';
import { UserError } from '../../model/user-error.ts';
import { byName, chosenValue, type TableRow } from '../../options/chosen-options.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { agentAssignments } from '../../world/config/agents-section.ts';
import { configTemplate } from '../../world/config/config-file.ts';
import {
  allAssignments,
  assignments,
  type Configuration,
  readConfiguration,
} from '../../world/config/configuration.ts';
import { CONFIG_OPTIONS } from '../../world/config/option-table.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

export interface ConfigCommand {
  readonly json?: boolean;
  readonly revoke?: boolean;
  readonly yes?: boolean;
}

export async function config(
  here: Here,
  action: string | undefined,
  options: ConfigCommand,
): Promise<number> {
  if (action === undefined && !options.revoke && !options.yes) return showConfig(here, options);
  if (action !== 'trust')
    throw wrongUsage(
      action === undefined
        ? '--revoke and --yes work only with "raymond config trust".'
        : `There is no command "raymond config ${action}".`,
      'See: raymond config --help',
    );
  return (await import('./trust.ts')).trustProject(here, options);
}

/** Writes a config file with every option commented out. Never overwrites a file. */
export async function initConfig(here: Here): Promise<number> {
  const { project, disk, makeProject } = await here();
  if (await disk.kind(project.configFile)) {
    throw new UserError(
      'config-exists',
      `${project.configFile} already exists.`,
      'Edit it, or remove it first.',
      { file: project.configFile },
    );
  }
  await makeProject();
  await replaceFile(disk, project.configFile, configTemplate());
  stderr.say(`Wrote ${project.configFile}`);
  return 0;
}

/** Confines all steps of the project's runs, in its config file. What else the file says stays. */
export async function limitProject(here: Here): Promise<void> {
  const { project, disk, makeProject } = await here();
  const { project: own } = await readConfiguration(project);
  if (own.options.rights) {
    stdout.say(`${project.configFile} already limits what steps may touch.`);
    return;
  }
  await makeProject();
  await replaceFile(disk, project.configFile, withRights(own.text ?? configTemplate()));
  stdout.say(
    `Wrote rights to ${project.configFile}. From now on, in runs of this project:`,
    '',
    '  - a step changes only the directory in which it works, and its own files',
    '  - it reaches only the hosts that its agent itself needs',
    '  - it cannot read your keys, and credentials of other programs',
    '',
    'A state that needs another host says so in its front matter: rights: { network: [github.com] }.',
    'The report of a run says what was refused, and which line would allow it.',
  );
}

/** An empty level confines to the defaults. */
const RIGHTS = 'rights = ["{}"]';

function withRights(text: string): string {
  if (/^# rights = .*$/m.test(text)) return text.replace(/^# rights = .*$/m, RIGHTS);
  if (/^\[raymond\].*$/m.test(text)) return text.replace(/^\[raymond\].*$/m, `$&\n${RIGHTS}`);
  return `[raymond]\n${RIGHTS}\n\n${text}`;
}

async function showConfig(here: Here, { json }: ConfigCommand): Promise<number> {
  const configuration = await readConfiguration((await here()).project);
  if (json) stdout.json(asJson(configuration));
  else stdout.say(...asLines(configuration));
  return 0;
}

function asLines({ user, project }: Configuration): readonly string[] {
  const ignored = project.isTrusted ? [] : allAssignments(project.dangerous);
  return [
    `# user: ${user.file}`,
    ...lines(user, project.options),
    `# project: ${project.file}${project.isTrusted ? ' (trusted)' : ''}`,
    ...(ignored.length > 0 && Object.keys(project.options).length === 0 ? [] : lines(project)),
    ...(ignored.length === 0
      ? []
      : ['# Ignored, because the file is not trusted. To see and approve them: raymond trust']),
    ...ignored.map((line) => `# ${line}`),
    ...contradictions({ user, project }),
  ];
}

function contradictions({ user, project }: Pick<Configuration, 'user' | 'project'>) {
  return [user, project].flatMap(({ contradiction }) =>
    contradiction ? [`# ${contradiction.message} ${contradiction.remedy}`] : [],
  );
}

const HAS_COMMENTED_KEY = /^#\s*\w+\s*=/m;

/** The keys that a file sets. Keys that another file overrides are commented out. */
function lines({ text, options }: Configuration['user'], over: RunOptions = {}): readonly string[] {
  const isLost = (row: TableRow) => chosenValue(over, row) !== undefined;
  const all = [
    ...assignments(options, (row) => !isLost(row)),
    ...assignments(options, isLost).map((line) => `# ${line} (overridden by the project's file)`),
    ...agentAssignments(options.agents),
  ];
  if (all.length > 0) return all;
  if (text === undefined) return ['# This file does not exist.'];
  return HAS_COMMENTED_KEY.test(text)
    ? ['# This file sets no key. To set one, remove the # before it.']
    : ['# This file sets no key.'];
}

function asJson({ options, user, project }: Configuration) {
  const ofProject = byName(project.options, CONFIG_OPTIONS);
  const values = Object.entries(byName(options, CONFIG_OPTIONS)).map(([name, value]) => [
    name,
    { value, from: name in ofProject ? 'project' : 'user' },
  ]);
  return {
    user: user.file,
    project: project.file,
    trusted: project.isTrusted,
    values: Object.fromEntries(values),
    agents: options.agents ?? {},
    ignored: project.isTrusted ? {} : ignoredOf(project.dangerous),
  };
}

function ignoredOf({ agents, ...options }: RunOptions) {
  return { ...byName(options, CONFIG_OPTIONS), ...(agents && { agents }) };
}
