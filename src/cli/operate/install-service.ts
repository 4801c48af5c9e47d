import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { hasCode, makeFolder, realDisk, replaceFile } from '../../journal/disk.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { homeFolder, makeOwnFolder, userStateFolder } from '../../world/config/user-folders.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import {
  LAUNCHD_LABEL,
  launchdAgent,
  type Service,
  systemdUnit,
  WRITTEN_BY,
} from './service-files.ts';

/** Writes the file with which the service manager of this machine starts `raymond up`, and says how. */
export async function installService(
  args: readonly string[],
  directory: string,
  platform: string = process.platform,
): Promise<number> {
  const service: Service = {
    command: [process.execPath, process.argv[1] ?? '', 'up', ...args],
    directory,
    environment: environmentFor(process.env),
  };
  refuseControls(service);
  const { file, text, advice } =
    platform === 'darwin' ? await forLaunchd(service) : forSystemd(service);
  await refuseForeign(file);
  await makeFolder(realDisk, dirname(file));
  await replaceFile(realDisk, file, text);
  await stdout.document(`${file}\n`);
  stderr.say(...advice);
  return 0;
}

/** Agents are found through PATH, and a service manager has a short one. */
function environmentFor(environment: NodeJS.ProcessEnv): Service['environment'] {
  const names = ['PATH', 'LANG', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

interface ServiceFile {
  readonly file: string;
  readonly text: string;
  /** The commands that enable it. */
  readonly advice: readonly string[];
}

function forSystemd(service: Service): ServiceFile {
  const { XDG_CONFIG_HOME: named } = process.env;
  const folder = named && isAbsolute(named) ? named : join(homeFolder(), '.config');
  return {
    file: join(folder, 'systemd', 'user', 'raymond.service'),
    text: systemdUnit(service),
    advice: [
      'Start it now and at every login:',
      '  systemctl --user daemon-reload',
      '  systemctl --user enable --now raymond.service',
      'Let it run while you are not logged in: loginctl enable-linger',
      'Read its log: journalctl --user --unit raymond.service --follow',
    ],
  };
}

async function forLaunchd(service: Service): Promise<ServiceFile> {
  const file = join(homeFolder(), 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`);
  await makeOwnFolder(userStateFolder());
  const log = join(userStateFolder(), 'up.log');
  return {
    file,
    text: launchdAgent(service, log),
    advice: [
      'Start it now and at every login:',
      `  launchctl bootstrap gui/$(id -u) ${shellWord(file)}`,
      `To stop it: launchctl bootout gui/$(id -u)/${LAUNCHD_LABEL}`,
      `Read its log: tail -f ${shellWord(log)}`,
    ],
  };
}

/** A line break would begin another setting. */
function refuseControls({ command, directory, environment }: Service): void {
  const texts = [...command, directory, ...Object.values(environment)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
  const wrong = texts.find((text) => /[\0-\x1f\x7f]/.test(text));
  if (wrong !== undefined)
    throw new UserError(
      'bad-path',
      `A service cannot have ${JSON.stringify(wrong)}, which has control characters.`,
      'Rename the folder, or start raymond up by hand.',
    );
}

async function refuseForeign(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (text === undefined || text.includes(WRITTEN_BY)) return;
  throw new UserError(
    'file-exists',
    `${file} exists, and Raymond has not written it.`,
    'Move it away, then run the command again.',
    { file },
  );
}
