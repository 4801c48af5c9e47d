// The shell code of the launcher and of its witnesses. Only builtins are used, because the PATH is
// meant for the commands. Variables have names that no step's environment shares with the launcher's.
import { STEP_FILES } from '../../model/step-files.ts';
import { HEAD_BYTES } from './launch-file.ts';
import { limitOf, type StepMark } from './mark.ts';
import { type EnvironmentChange, quoted } from './shell-environment.ts';

/**
 * Reads paths of step folders from standard input, each ended by NUL, and reports ends on descriptor 3.
 * The paths may be relative to the first argument.
 * - With `set -m` each witness has its own group and hears SIGINT, and so does its command. With
 *   `set +m`, `wait` does not return for a command that is only stopped.
 * - There are no traps: they would lose a signal that arrives between fork and exec.
 * - Messages of bash about a killed child go to /dev/null, which is also the standard input.
 * - `<>` overwrites the first line without truncating the file.
 * - A program can exit with 126 or 127, too. Only after a failed start do the errors begin with the path
 *   of the `launch` file, because bash complains about the code in it.
 */
export function launcherCode(platform: NodeJS.Platform, mark: StepMark): string {
  const { launch, withdrawn, stdout, stderr } = STEP_FILES;
  return `
shopt -u checkwinsize
set -f
${setLimit(platform, mark)}
RAYMOND_MASK=$(umask)
umask 077
record() {
  printf '#%-${HEAD_BYTES - 2}s\\n' "$1 $2 $RAYMOND_PID $RAYMOND_STARTED" 1<>"$RAYMOND_FOLDER/${launch.name}"
}
unstarted() {
  record unstarted "$1"
  echo "$RAYMOND_ID unstarted $1 0" >&3
  exit
}
complained() {
  IFS= read -r -d '' -n 4096 RAYMOND_STDERR <"$RAYMOND_FOLDER/${stderr.name}"
  case $RAYMOND_STDERR in "$RAYMOND_FOLDER/${launch.name}: "*) ;; *) false ;; esac
}
witness() {
  . "$RAYMOND_FOLDER/${launch.name}" || exit
  ${platform === 'linux' ? LINUX_IDENTITY : PS_IDENTITY}
  [ "$RAYMOND_STARTED" ] && record began 0 || unstarted 1
  [ -e "$RAYMOND_FOLDER/${withdrawn.name}" ] && unstarted 0
  exec 6>>"$RAYMOND_FOLDER/${stdout.name}" 7>>"$RAYMOND_FOLDER/${stderr.name}" || unstarted 1
  set -m
  begin <&1 >&6 2>&7 3>&- 6>&- 7>&- &
  set +m
  wait "$!"
  set -- "$?"
  case $1 in 12[67]) complained && unstarted "$1" ;; esac
  record exited "$1"
  echo "$RAYMOND_ID exited $1 $!" >&3
}
set -m
while IFS= read -r -d '' RAYMOND_FOLDER; do
  case $RAYMOND_FOLDER in /*) ;; *) RAYMOND_FOLDER=$1/$RAYMOND_FOLDER ;; esac
  witness <&1 &
done`;
}

/** Of a subshell, without starting a program. */
const LINUX_IDENTITY = `
  read -r RAYMOND_STARTED </proc/self/stat
  RAYMOND_PID=\${RAYMOND_STARTED%% *}
  set -- \${RAYMOND_STARTED##*) }
  RAYMOND_STARTED=\${20}`;

/** As `macos.ts` reads it. A subshell of bash 3.2 cannot read its own pid. */
const PS_IDENTITY = `
  RAYMOND_PID=$(exec /bin/sh -c 'echo "$PPID"')
  set -- $(LC_ALL=C TZ=UTC0 exec /bin/ps -o lstart= -p "$RAYMOND_PID")
  RAYMOND_STARTED=$*`;

export interface StepCode {
  readonly id: number;
  readonly mark: StepMark;
  readonly environment: EnvironmentChange;
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** The code that the witness of one step reads. */
export function stepCode(platform: NodeJS.Platform, step: StepCode): string {
  const { id, mark, environment, cwd, command, args } = step;
  const words = [command, ...args].map(quoted).join(' ');
  return `RAYMOND_ID=${id}
${setLimit(platform, mark)}
begin() {
cd -P -- ${quoted(cwd)} || return 126
umask "$RAYMOND_MASK"
unset -v ${environment.unset}
${environment.set} exec -- ${words}
}
`;
}

function setLimit(platform: NodeJS.Platform, mark: StepMark): string {
  return platform === 'linux' ? `ulimit -S -x ${limitOf(mark)}` : '';
}
