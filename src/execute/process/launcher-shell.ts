// The shell code of the launcher and of its witnesses. Only builtins are used, because the PATH is
// meant for the commands. Variables have names that no step's environment shares with the launcher's.
import { STEP_FILES } from '../../model/step-files.ts';
import { HEAD_BYTES } from './launch-file.ts';
import { limitOf, type StepMark } from './mark.ts';
import { type EnvironmentChange, quoted } from './shell-environment.ts';

/** The descriptors of the witnesses begin here. */
export const FIRST_CHANNEL = 3;

/**
 * Reads descriptor numbers from standard input, and forks a witness for each. A witness reads messages
 * from its descriptor, each ended by NUL. The first is the path of a folder with empty files, the
 * second that of a step's folder. In the first folder it forks a child, and waits for the child's end.
 * The child waits for the second message, and then becomes the command. So most of the work is done
 * before the command is known. Meanwhile the first folder is renamed to the second, which does not
 * matter to processes that are in it. The first message may be empty, or come too late: then the
 * witness enters the second folder.
 * - With `set -m` each witness has its own group and hears SIGINT, and so does its command. With
 *   `set +m`, `wait` does not return for a command that is only stopped.
 * - Without `<&0`, bash would connect the standard input of a background job with /dev/null.
 * - There are no traps: they would lose a signal that arrives between fork and exec.
 * - Messages of bash about a killed child go to /dev/null, which is also the standard input of commands.
 * - `<>` overwrites the first line without truncating the file. Standard output is that file, because a
 *   redirection of a builtin costs more than the builtin.
 * - The child's own record is read through a descriptor, because a command can replace the file.
 * - A program can exit with 126 or 127, too. Only after a failed start do the errors begin with the path
 *   of the `launch` file, because bash complains about the code in it. No program is called by such a
 *   path.
 * - After its end, a command has leftovers if its group still has members that can be signalled.
 * - A witness that cannot record an end must end itself: whoever adopts the step waits for one of them.
 *   It also ends when its child has ended before the command began.
 * - Only the witness and a waiting child have the channel open. The child does not begin a command if
 *   its witness has died, so the channel closes then. A zombie has no current directory.
 */
export function launcherCode(platform: NodeJS.Platform, mark: StepMark, channels: number): string {
  const { launch, withdrawn, stdout, stderr } = STEP_FILES;
  const numbers = Array.from({ length: channels }, (_, index) => FIRST_CHANNEL + index);
  const head = `printf '#%-${HEAD_BYTES - 2}s\\n'`;
  const code = `././/${launch.name}`;
  return `
shopt -u checkwinsize
set -f
${setLimit(platform, mark)}
RAYMOND_MASK=$(umask)
RAYMOND_ROOT=$PWD
umask 077
unstarted() {
  exec 1<>${launch.name} && ${head} "unstarted $1 $RAYMOND_IDENTITY"
}
complained() {
  IFS= read -r -d '' -n 4096 RAYMOND_STDERR <${stderr.name}
  case $RAYMOND_STDERR in ${code}': '*) ;; *) false ;; esac
}
become() {
  [ "$RAYMOND_STEP" ] || IFS= read -r -d '' RAYMOND_STEP || exit
  ${platform === 'linux' ? '[ -e "/proc/$RAYMOND_PID/cwd" ]' : 'kill -0 "$RAYMOND_PID"'} || exit
  ${head} "began 0 $RAYMOND_IDENTITY" || { unstarted 1; exit; }
  [ -e ${withdrawn.name} ] && { unstarted 0; exit; }
  exec <&2 >&6 2>&7 5<&- 6>&- 7>&-
  . ${code}
}
enter() {
  case $1 in
    /*) cd -- "$1" ;;
    ?*) cd -- "$RAYMOND_ROOT/$1" ;;
    *) false ;;
  esac
}
serve() {
  RAYMOND_STEP=
  enter "$RAYMOND_FOLDER" || { IFS= read -r -d '' RAYMOND_STEP || exit; enter "$RAYMOND_STEP"; } &&
    exec 1<>${launch.name} 5<${launch.name} 6>>${stdout.name} 7>>${stderr.name} ||
    { [ "$RAYMOND_STEP" ] || IFS= read -r -d '' RAYMOND_STEP; echo 'unstarted 1 none' >&0; exit; }
  set -m
  become <&0 &
  set +m
  wait "$!"
  set -- "$?"
  IFS= read -r -u 5 -n 14 RAYMOND_HEAD
  case $RAYMOND_HEAD in
    '#began '*) ;;
    '#unstarted '*) set -- $RAYMOND_HEAD; echo "unstarted $2 none" >&0; return ;;
    *) exit ;;
  esac
  case $1 in 12[67]) complained && { unstarted "$1"; echo "unstarted $1 none" >&0; return; } ;; esac
  exec 1<>${launch.name} 5<&- 6>&- 7>&- && ${head} "exited $1 $RAYMOND_IDENTITY" ||
    { echo "exited $1 some" >&0; exit; }
  kill -0 -- "-$!" && set -- "$1" some || set -- "$1" none
  echo "exited $1 $2" >&0
}
witness() {
  exec <&"$RAYMOND_CHANNEL" || exit
  exec ${numbers.map((number) => `${number}<&-`).join(' ')}
  ${platform === 'linux' ? LINUX_IDENTITY : PS_IDENTITY}
  while IFS= read -r -d '' RAYMOND_FOLDER; do serve; done
}
set -m
while read -r RAYMOND_CHANNEL; do
  witness &
  eval "exec $RAYMOND_CHANNEL<&-"
done`;
}

/** Of a subshell, without starting a program. */
const LINUX_IDENTITY = `
  read -r RAYMOND_STAT </proc/self/stat
  RAYMOND_PID=\${RAYMOND_STAT%% *}
  set -- \${RAYMOND_STAT##*) }
  [ "\${20}" ] || exit
  RAYMOND_IDENTITY="$RAYMOND_PID \${20}"`;

/** As `macos.ts` reads it. A subshell of bash 3.2 cannot read its own pid. */
const PS_IDENTITY = `
  RAYMOND_PID=$(exec /bin/sh -c 'echo "$PPID"')
  set -- $(LC_ALL=C TZ=UTC0 exec /bin/ps -o lstart= -p "$RAYMOND_PID")
  [ "$*" ] || exit
  RAYMOND_IDENTITY="$RAYMOND_PID $*"`;

export interface StepCode {
  readonly mark: StepMark;
  readonly environment: EnvironmentChange;
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** The code that the child of a witness reads: it becomes the command. */
export function stepCode(platform: NodeJS.Platform, step: StepCode): string {
  const { mark, environment, cwd, command, args } = step;
  const words = [command, ...args].map(quoted).join(' ');
  return `${setLimit(platform, mark)}
cd -P -- ${quoted(cwd)} || exit 126
umask "$RAYMOND_MASK"
unset -v ${environment.unset}
${environment.set} exec -- ${words}
`;
}

function setLimit(platform: NodeJS.Platform, mark: StepMark): string {
  return platform === 'linux' ? `ulimit -S -x ${limitOf(mark)}` : '';
}
