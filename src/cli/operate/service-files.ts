/**
 * The files with which systemd and launchd start `raymond up`. Both stop only that process: runs are processes
 * of their own and continue.
 */

export interface Service {
  /** The program and its arguments. The program is an absolute path. */
  readonly command: readonly [string, ...string[]];
  readonly directory: string;
  /** What a service manager does not know by itself, such as PATH. */
  readonly environment: Readonly<Record<string, string>>;
}

/** In each file, so that Raymond replaces only its own. */
export const WRITTEN_BY = 'Written by raymond up, whose option install replaces it.';

/** A user unit of systemd. */
export function systemdUnit({ command, directory, environment }: Service): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  );
  return `${[
    `# ${WRITTEN_BY}`,
    '[Unit]',
    'Description=Raymond: runs that start by themselves',
    'Documentation=https://www.npmjs.com/package/raymond',
    '',
    '[Service]',
    'Type=exec',
    // The colon: a dollar sign begins no variable.
    `ExecStart=:${command.map(quoted).join(' ')}`,
    // The rest of the line, as it is.
    `WorkingDirectory=${escapedPercent(directory)}`,
    ...variables,
    'Restart=on-failure',
    'RestartSec=5',
    // Runs have processes of their own, which outlive this one.
    'KillMode=process',
    'OOMPolicy=continue',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
  ].join('\n')}\n`;
}

/** One word, in the quotes of systemd. */
const quoted = (word: string) => `"${escapedPercent(word).replaceAll(/["\\]/g, '\\$&')}"`;

/** A percent sign would begin a specifier. */
const escapedPercent = (text: string) => text.replaceAll('%', '%%');

export const LAUNCHD_LABEL = 'raymond.up';

/** An agent of launchd. */
export function launchdAgent({ command, directory, environment }: Service, log: string): string {
  const words = command.map((word) => `    ${string(word)}`);
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${escaped(name)}</key>${string(value)}`,
  );
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${WRITTEN_BY} -->`,
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key>${string(LAUNCHD_LABEL)}`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words,
    '  </array>',
    `  <key>WorkingDirectory</key>${string(directory)}`,
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...variables,
    '  </dict>',
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>AbandonProcessGroup</key><true/>',
    '  <key>Umask</key><integer>63</integer>',
    `  <key>StandardErrorPath</key>${string(log)}`,
    '</dict>',
    '</plist>',
  ].join('\n')}\n`;
}

const string = (text: string) => `<string>${escaped(text)}</string>`;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
