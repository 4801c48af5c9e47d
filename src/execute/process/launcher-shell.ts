// The shell code of the launcher and of its witnesses. Only builtins are used, because the PATH is
// meant for the commands. Variables have names that no step's environment shares with the launcher's.
import { STEP_FILES } from '../../model/step-files.ts';
import { FILTER_DESCRIPTOR } from '../rights/call-filter-file.ts';
import { HEAD_BYTES } from './launch-file.ts';
import { limitOf, type StepMark } from './mark.ts';
import { type EnvironmentChange, quoted } from './shell-environment.ts';

/** The descriptors of the witnesses begin here. */
export const FIRST_CHANNEL = 3;

/**
 * Reads descriptor numbers from standard input, and forks a witness for each. A witness reads messages
 * from its descriptor, each ended by NUL. For each command there are three:
 * 1. A word, a colon and the path of a folder with empty files. The witness forks a child in it, and
 *    waits for its end. After a success it writes the word: see `success-word.ts`.
 * 2. Nothing: the code of the command is in the folder. The child reads it and does all but begin.
 * 3. The path of the step's folder. The child becomes the command.
 * So most of the work is done before the command may begin. Before the third message, the first folder
 * is renamed to the second, which does not matter to processes that are in it. The first message may have
 * no path, or come too late: then the witness enters the second folder.
 * - With `set -m` each witness has its own group and hears SIGINT, and so does its command. With
 *   `set +m`, `wait` does not return for a command that is only stopped.
 * - Without `<&0`, bash would connect the standard input of a background job with /dev/null.
 * - There are no traps: they would lose a signal that arrives between fork and exec.
 * - Messages of bash about a killed child go to /dev/null, which is also the standard input of commands.
 * - `<>` overwrites the first line without truncating the file. Each descriptor has its own position:
 *   the witness writes to 1 and reads from 4, and its child writes to 5. A command can replace the file,
 *   but not these.
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
  ${head} "unstarted $1 $RAYMOND_IDENTITY" 1<>"$RAYMOND_STEP/${launch.name}"
}
complained() {
  IFS= read -r -d '' -n 4096 RAYMOND_STDERR <${stderr.name}
  case $RAYMOND_STDERR in ${code}': '*) ;; *) false ;; esac
}
whole() {
  case $1 in
    '' | /*) RAYMOND_PATH=$1 ;;
    *) RAYMOND_PATH=$RAYMOND_ROOT/$1 ;;
  esac
}
become() {
  exec 8<&0 <&2 >&6 2>&7 4<&- 6>&- 7>&-
  [ "$RAYMOND_STEP" ] || IFS= read -r -d '' -u 8 RAYMOND_STEP || exit
  . ${code}
}
begin() {
  [ "$RAYMOND_STEP" ] || IFS= read -r -d '' -u 8 RAYMOND_STEP || exit
  whole "$RAYMOND_STEP"
  RAYMOND_STEP=$RAYMOND_PATH
  ${platform === 'linux' ? '[ -e "/proc/$RAYMOND_PID/cwd" ]' : 'kill -0 "$RAYMOND_PID"'} || exit
  ${head} "began 0 $RAYMOND_IDENTITY" >&5 || { unstarted 1; exit; }
  [ -e "$RAYMOND_STEP/${withdrawn.name}" ] && { unstarted 0; exit; }
  exec 5<&- 8<&-
}
enter() {
  whole "$1"
  [ "$1" ] && cd -- "$RAYMOND_PATH"
}
serve() {
  RAYMOND_STEP=
  RAYMOND_WORD=\${RAYMOND_FOLDER%%:*}
  RAYMOND_FOLDER=\${RAYMOND_FOLDER#*:}
  enter "$RAYMOND_FOLDER" || {
    IFS= read -r -d '' RAYMOND_STEP && IFS= read -r -d '' RAYMOND_STEP || exit
    enter "$RAYMOND_STEP"
  } && exec 1<>${launch.name} 4<${launch.name} 5<>${launch.name} 6>>${stdout.name} 7>>${stderr.name} || {
    [ "$RAYMOND_STEP" ] || { IFS= read -r -d '' RAYMOND_STEP && IFS= read -r -d '' RAYMOND_STEP; }
    echo 'unstarted 1 none' >&0
    exit
  }
  set -m
  become <&0 &
  set +m
  wait "$!"
  set -- "$?"
  IFS= read -r -u 4 -n 14 RAYMOND_HEAD
  case $RAYMOND_HEAD in
    '#began '*) ;;
    '#unstarted '*) set -- $RAYMOND_HEAD; echo "unstarted $2 none" >&0; return ;;
    *) exit ;;
  esac
  case $1 in
    12[67])
      complained && { ${head} "unstarted $1 $RAYMOND_IDENTITY"; echo "unstarted $1 none" >&0; return; }
    ;;
  esac
  [ "$1" = 0 ] || RAYMOND_WORD=
  ${head} "exited $1\${RAYMOND_WORD:+:$RAYMOND_WORD} $RAYMOND_IDENTITY" || { echo "exited $1 some" >&0; exit; }
  kill -0 -- "-$!" && set -- "$1" some || set -- "$1" none
  echo "exited $1 $2" >&0
  exec 1>&2 4<&- 5<&- 6>&- 7>&-
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

interface StepCode {
  readonly mark: StepMark;
  readonly environment: EnvironmentChange;
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly filter?: string | undefined;
  readonly endsWhole?: boolean | undefined;
}

/** The code that the child of a witness reads. It waits in `begin`, and then becomes the command. */
export function stepCode(platform: NodeJS.Platform, step: StepCode): string {
  const { mark, environment, cwd, command, args, filter, endsWhole } = step;
  const told = endsWhole ? ['--info-fd', `${INFO_DESCRIPTOR}`] : [];
  const words = [command, ...told, ...args].map(quoted).join(' ');
  return `${setLimit(platform, mark)}
cd -P -- ${quoted(cwd)} || exit 126
umask "$RAYMOND_MASK"
unset -v ${environment.unset}
${filter === undefined ? '' : withFilter(filter, FIRST_FREE)}
${endsWhole ? `exec ${INFO_DESCRIPTOR}>>/proc/self/fd/5` : ''}
begin
${environment.set} exec -- ${words}
`;
}

/** Where bubblewrap reports the process of its sandbox: at the end of the `launch` file. See `sandboxIn`. */
const INFO_DESCRIPTOR = 4;

/** The descriptors below it have a use until the command begins. */
const FIRST_FREE = 9;

/**
 * Opens the filter of a sandbox, and closes what Raymond itself has inherited: through an open folder, a
 * command could leave its sandbox. Only Linux lists them.
 */
export function withFilter(filter: string, firstFree: number): string {
  return `set +f
for RAYMOND_FILE in /proc/self/fd/*; do
  RAYMOND_FILE=\${RAYMOND_FILE##*/}
  case $RAYMOND_FILE in *[!0-9]*) continue ;; esac
  [ "$RAYMOND_FILE" -lt ${firstFree} ] || eval "exec $RAYMOND_FILE<&-"
done
set -f
unset -v RAYMOND_FILE
exec ${FILTER_DESCRIPTOR}<${quoted(filter)} || exit 126`;
}

function setLimit(platform: NodeJS.Platform, mark: StepMark): string {
  return platform === 'linux' ? `ulimit -S -x ${limitOf(mark)}` : '';
}
