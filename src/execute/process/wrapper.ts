// INV-20: A command begins only after its identity is on disk, and its end is recorded even if
// Raymond has died.
//
// Every command runs under a small wrapper, which leads its own session and guarantees this:
// - The command begins only after a line has arrived on descriptor 3. Raymond sends it when the
//   wrapper's identity is on disk. If Raymond dies earlier, the pipe closes and the command never
//   begins. So every command that had an effect can be found again from its folder.
// - The wrapper writes how the command ended to `exit-<pid>`, even if Raymond has died. It exits with
//   the same code, so that Raymond learns the code even if the file cannot be written.
// - The line is a word, which the wrapper writes only after a success: see `success-word.ts`.
// - On Linux, every process that the command starts inherits a limit that identifies it: see `mark.ts`.
import { withFilter } from './launcher-shell.ts';
import { limitOf, type StepMark } from './mark.ts';
import { quoted } from './shell-environment.ts';
import { windowsWrapper } from './windows.ts';

interface Wrapped {
  readonly mark: StepMark;
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly filter?: string | undefined;
}

/** The program and arguments that run `command` under the wrapper of this platform. */
export function wrap(
  platform: NodeJS.Platform,
  { mark, folder, command, args, filter }: Wrapped,
): readonly [string, readonly string[]] {
  if (platform === 'win32') return windowsWrapper(process.execPath, folder, command, args);
  const limit = platform === 'linux' ? `ulimit -S -x ${limitOf(mark)}` : '';
  return ['/bin/bash', ['--norc', '-pc', unixWrapper(limit, filter), folder, command, ...args]];
}

/**
 * `exec` finds programs only, never builtins. `execfail` distinguishes a failed start from a program
 * that itself exits with 126 or 127.
 */
const unixBegin = (
  filter: string | undefined,
) => `${filter === undefined ? '' : `\n${withFilter(filter, 3)}`}
shopt -s execfail
exec -- "$@"
set -- "$?"
echo "unstarted $1" 1<>"$0/exit-$PPID"
exit "$1"`;

/**
 * - `-p` ignores BASH_ENV and exported functions in the wrapper, but passes them to the command.
 * - `--norc` ignores ~/.bashrc, which bash would read if its stdin is a socket, as pipes of Node are.
 * - With `set -m` the command is a background job in its own group, whose signals do not reach the
 *   wrapper. The command still keeps its stdin and receives SIGINT.
 * - With `set +m`, `wait` does not return for a command that is only stopped.
 * - There are no traps: they would lose a signal that arrives between fork and exec.
 * - Only builtins are used, because the PATH is meant for the command. The environment could export a
 *   variable that is set, so the one for the word is unset before.
 * - Messages of bash about a killed child do not reach the command's stderr.
 * - `<>` overwrites the reserved bytes of the file without truncating it.
 */
const unixWrapper = (limit: string, filter: string | undefined) => `
unset -v RAYMOND_WORD
read -r -u 3 RAYMOND_WORD || { [ -e "$0/exit-$$" ] && echo 'unstarted 0' 1<>"$0/exit-$$"; exit 1; }
exec 3<&- 4>&2 2>/dev/null
${limit}
set -m
/bin/bash --norc -pc ${quoted(unixBegin(filter))} "$0" "$@" <&0 2>&4 4>&- &
set +m
wait "$!"
set -- "$?"
case $1 in 12[67]) case $(<"$0/exit-$$") in unstarted*) exit "$1" ;; esac ;; esac
case $1 in 0) echo "exited 0:$RAYMOND_WORD" ;; *) echo "exited $1" ;; esac 1<>"$0/exit-$$"
exit "$1"`;
