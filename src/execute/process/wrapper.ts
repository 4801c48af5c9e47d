// Every command runs under a small wrapper, the leader of a session of its own, which keeps these promises:
// - The command begins only after a line arrived on descriptor 3. Raymond sends it when the
//   wrapper's identity is on disk; if Raymond dies before, the pipe closes and the command never
//   begins. So whatever had an effect can be found again from its folder.
// - The wrapper writes how the command ended to `exit-<pid>`, whether Raymond lives or not, and exits
//   with the same code, so that Raymond knows it even when it cannot be written.
// - On Linux, all that the command starts can be told by a limit that it inherits: see `mark.ts`.
import { limitOf, type StepMark } from './mark.ts';
import { windowsWrapper } from './windows.ts';

interface Wrapped {
  readonly mark: StepMark;
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** The program and arguments that run `command` under the wrapper of this platform. */
export function wrap(
  platform: NodeJS.Platform,
  { mark, folder, command, args }: Wrapped,
): readonly [string, readonly string[]] {
  if (platform === 'win32') return windowsWrapper(process.execPath, folder, command, args);
  const limit = platform === 'linux' ? `ulimit -S -x ${limitOf(mark)}` : '';
  return ['/bin/bash', ['-pc', unixWrapper(limit), folder, command, ...args]];
}

/**
 * `exec` looks only for programs, and with `execfail` a failure is told apart from a program that
 * itself exits with 126 or 127.
 */
const UNIX_BEGIN = `
shopt -s execfail
exec -- "$@"
set -- "$?"
echo "unstarted $1" >"$0/unstarted-$PPID"
exit "$1"`;

/**
 * - `-p` keeps BASH_ENV and exported functions from running in here, and passes them on.
 * - With `set -m` the command is a background job with a group of its own, whose signals do not
 *   reach the wrapper, and yet it keeps its stdin and hears SIGINT. Without it again, a command
 *   that is merely stopped has not ended.
 * - There are no traps: a signal that came between fork and exec would be lost in them.
 * - Only builtins are used, as the PATH is the command's affair, and no variable is set that the
 *   environment could export.
 * - What bash says about a killed child does not go to the command's stderr.
 * - `<>` writes into the space that the file has, without emptying it first.
 */
const unixWrapper = (limit: string) => `
read -r -u 3 _ || { [ -e "$0/exit-$$" ] && echo 'unstarted 0' 1<>"$0/exit-$$"; exit 1; }
exec 3<&- 4>&2 2>/dev/null
${limit}
set -m
/bin/bash -pc '${UNIX_BEGIN}' "$0" "$@" <&0 2>&4 4>&- &
set +m
wait "$!"
set -- "$?"
[ -e "$0/unstarted-$$" ] || echo "exited $1" 1<>"$0/exit-$$"
exit "$1"`;
