/** The effects of the scripts of a test, as they recorded them in a file that all workers share. */
import type { Project } from '../raymond.ts';

/**
 * The start of a script that records its begin and its end. `pass` lets some time pass, and records that
 * the script is alive. It starts no process for that.
 */
export const RECORDING = `note() {
  echo "$1 $RAYMOND_WORKFLOW_ID $RAYMOND_AGENT_ID $RAYMOND_STATE \${RAYMOND_RESULT:--} $RAYMOND_ATTEMPT $$ $EPOCHREALTIME" >> effects
}
pass() { note alive; read -rt "$1" -u 9; }
exec 9<> <(:)
note begin
trap 'note end' EXIT
`;

export const WAITING = `${RECORDING}while [ ! -e go ]; do pass 0.05; done
`;

export interface Effect {
  readonly what: 'begin' | 'alive' | 'end';
  readonly run: string;
  readonly agent: string;
  readonly state: string;
  readonly input: string;
  readonly attempt: number;
  readonly pid: number;
  /** In microseconds. */
  readonly at: number;
}

export function effectsOf(project: Project): readonly Effect[] {
  return project.lines('effects').map((line) => {
    const [what, run = '', agent = '', state = '', input = '', attempt, pid, at] = line.split(' ');
    if (what !== 'begin' && what !== 'alive' && what !== 'end') throw new Error(line);
    const numbers = { attempt: Number(attempt), pid: Number(pid), at: Number(at) * 1e6 };
    return { what, run, agent, state, input, ...numbers };
  });
}

/** Executions for the same agent that were alive at the same time. Their clocks may differ, so the order counts. */
export function overlaps(effects: readonly Effect[]): readonly string[] {
  const found: string[] = [];
  const last = new Map<string, Effect>();
  for (const effect of effects) {
    const who = `${effect.run} ${effect.agent}`;
    const before = last.get(who);
    const isOther = before !== undefined && before.pid !== effect.pid;
    if (isOther && effect.what !== 'begin')
      found.push(`${who} ${effect.state}: the processes ${before.pid} and ${effect.pid}`);
    last.set(who, effect);
  }
  return found;
}
