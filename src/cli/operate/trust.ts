/** Approves what a project commands: the config file of Raymond, and settings for agents. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { refuseFaulty } from '../../app/refuse-faulty.ts';
import { refuseInsideAny } from '../../app/refuse-inside.ts';
import { rootOf } from '../../app/triggers.ts';
import { agentsWith } from '../../execute/agents/agents.ts';
import { type SettingsFile, settingsFiles } from '../../execute/agents/project-settings.ts';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { shellWord } from '../../model/shell-word.ts';
import { type Trigger, triggerName } from '../../model/trigger.ts';
import { UserError } from '../../model/user-error.ts';
import {
  allAssignments,
  type Configuration,
  readConfiguration,
} from '../../world/config/configuration.ts';
import {
  approvalsOf,
  approveSettings,
  approveTriggers,
  areTriggersApproved,
  revoke,
  revokeTriggers,
  trust,
} from '../../world/config/trust.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { isAttended, stderr } from '../terminal/terminal.ts';
import { confirm, showNotice } from '../terminal/terminal-door.ts';
import { revokeLessons, trustLessons } from './trust-lessons.ts';

export interface TrustCommand {
  readonly revoke?: boolean;
  readonly yes?: boolean;
  readonly lessons?: boolean;
  readonly proposals?: boolean;
}

/** Shows everything first. Approves exactly what was shown. */
export async function trustProject(
  here: Here,
  options: TrustCommand,
  name?: string,
): Promise<number> {
  const around = await here();
  if (options.proposals) {
    const { trustProposals } = await import('./trust-proposals.ts');
    return trustProposals(around, name, options);
  }
  if (options.lessons && options.revoke) return revokeLessons(around, name);
  if (options.lessons) return trustLessons(around, name, options);
  if (name !== undefined) return trustTriggers(around, options, name);
  if (options.revoke) return revokeTrust(around);
  await refuseInsideAny(around, 'trust a project');
  const { project, options: configured } = await readConfiguration(around.project);
  const root = dirname(around.project.folder);
  const approvals = await approvalsOf(root);
  const names = agentsWith(configured.agents).all.flatMap((one) => one.projectSettings.names);
  const found = settingsFiles([...new Set(names)], around.cwd, approvals);
  const settings = found.filter(({ name, hash }) => hash && approvals.files[name] !== hash);
  const keys = project.isTrusted ? [] : allAssignments(project.dangerous);
  stderr.say(...found.filter(({ hash }) => hash === undefined).map(cannotApprove));
  if (keys.length === 0 && settings.length === 0) {
    stderr.say(nothingToApprove(project, found.length > 0));
    return 0;
  }
  stderr.say(...keyLines(project.file, keys), ...settingsLines(settings));
  await agree(options);
  if (keys.length > 0 && project.text !== undefined) await trust(project.file, project.text);
  if (settings.length > 0)
    await approveSettings(root, {
      ...approvals.files,
      ...Object.fromEntries(settings.map(({ name, hash = '' }) => [name, hash])),
    });
  stderr.say(`Approved, until a file changes. To withdraw it: raymond trust --revoke`);
  return 0;
}

/** Whoever may start runs without a person must be approved by one. */
async function trustTriggers(
  around: Surroundings,
  options: TrustCommand,
  path: string,
): Promise<number> {
  const library = await configuredLibrary(async () => around, around.cwd);
  const workflow = await library.load(path);
  const { ref, about } = workflow;
  if (options.revoke) {
    const were = await revokeTriggers(ref);
    stderr.say(`The triggers of ${path} ${were ? 'are no longer' : 'were not'} approved.`);
    return 0;
  }
  await refuseInsideAny(around, 'approve triggers');
  // A trigger that cannot be read would be missing in the approval.
  refuseFaulty(library, workflow, { notice: showNotice, agree: async () => undefined }, {});
  const { triggers = [] } = about;
  if (triggers.length === 0 || (await areTriggersApproved(ref, triggers))) {
    const has = triggers.length === 0 ? 'has no triggers' : 'has only triggers that you approved';
    stderr.say(`${path} ${has}.`);
  } else {
    stderr.say(`Without asking you, ${path} would be started by:`, ...triggers.map(triggerLine));
    await agree(options);
    await approveTriggers(ref, triggers);
    stderr.say(
      `Approved, until the triggers change. To keep them: raymond up. To withdraw it: raymond trust --revoke ${shellWord(path)}`,
    );
  }
  if (triggers.length > 0) await around.world.shareTriggers(rootOf(around));
  return 0;
}

function triggerLine(trigger: Trigger): string {
  const { kind: _, ...rest } = trigger;
  const name = triggerName(trigger);
  const unsigned = trigger.kind === 'webhook' && trigger.secret === undefined;
  const rules = Object.entries(rest)
    .filter(([key]) => !['schedule', 'timezone', 'name', 'pattern'].includes(key))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `  ${name}${unsigned ? ', SENT BY ANYBODY' : ''} (${rules.join(', ')})`;
}

async function agree({ yes }: TrustCommand): Promise<void> {
  if (yes || (isAttended() && (await confirm('Approve all of this?')))) return;
  throw new UserError(
    'not-approved',
    'Nothing was approved.',
    'If you trust all of this: raymond trust --yes',
  );
}

function keyLines(file: string, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  return [`${file} would apply:`, ...keys.map((key) => `  ${key}`)];
}

function settingsLines(files: readonly SettingsFile[]): readonly string[] {
  if (files.length === 0) return [];
  return ['Agents would load:', ...files.flatMap(fileLines)];
}

/** Short files of JSON and TOML are shown whole. */
function fileLines({ name, path, hash }: SettingsFile): readonly string[] {
  const bytes = readRegularFileSync(path, MOST_BYTES);
  if (createHash('sha256').update(bytes).digest('hex') !== hash)
    throw new UserError('changed', `${path} changes at this moment.`, 'Try again.');
  const isShown = bytes.length <= MOST_SHOWN && /\.(jsonc?|toml)$/.test(name);
  if (!isShown) return [`  ${name} (${bytes.length} bytes)`];
  const text = bytes.toString('utf8').trimEnd();
  return [`  ${name}`, ...text.split('\n').map((line) => `    ${line}`)];
}

const MOST_SHOWN = 4096;
const MOST_BYTES = 4 * 1024 * 1024;

function cannotApprove({ name }: SettingsFile): string {
  return `${name} cannot be approved, because it is a link, too large or unreadable. Agents do not load it.`;
}

function nothingToApprove(project: Configuration['project'], hasSettings: boolean): string {
  if (project.isTrusted || hasSettings)
    return 'Everything that can be approved here is already approved.';
  return 'Nothing in this project needs an approval.';
}

async function revokeTrust(around: Surroundings): Promise<number> {
  const { configFile, folder } = around.project;
  const root = dirname(folder);
  const were = [await revoke(configFile), await revoke(root)];
  stderr.say(`${root} ${were.includes(true) ? 'is no longer trusted' : 'was not trusted'}.`);
  return 0;
}
