import { findNamed } from '../agents/find-program.ts';

interface NoteCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** The program that shows notes on this desktop; undefined if there is none. No shell reads the text. */
export function desktopNote(
  platform: NodeJS.Platform,
  path: string | undefined,
): ((text: string) => NoteCommand) | undefined {
  if (platform === 'darwin') {
    const command = '/usr/bin/osascript';
    return (text) => ({ command, args: [...APPLE_SCRIPT, TITLE, text] });
  }
  const command = findNamed('notify-send', path);
  if (command === undefined) return undefined;
  return (text) => ({ command, args: ['--app-name', TITLE, '--', TITLE, withoutMarkup(text)] });
}

const TITLE = 'Raymond';

const APPLE_SCRIPT = [
  ...['-e', 'on run argv'],
  ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
  ...['-e', 'end run'],
  '--',
];

/** Many desktops read the text as markup. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
