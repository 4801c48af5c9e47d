/** What the scripts of a test did, as they recorded it in a file that all workers share. */
import type { Project } from '../raymond.ts';

/** The lines that a script writes at its begin and its end, and while it waits for the file `go`. */
export const RECORDING = `note() { echo "$1 $RAYMOND_AGENT_ID $RAYMOND_STATE $RAYMOND_ATTEMPT $$ $(date +%s%N)" >> "$PWD/effects"; }
note begin
trap 'note end' EXIT
`;

export const WAITING = `${RECORDING}while [ ! -e go ]; do note alive; sleep 0.05; done
`;

export interface Effect {
  readonly what: 'begin' | 'alive' | 'end';
  readonly agent: string;
  readonly state: string;
  readonly attempt: number;
  readonly pid: number;
  readonly at: bigint;
}

export function effectsOf(project: Project): readonly Effect[] {
  return project.lines('effects').map((line) => {
    const [what, agent = '', state = '', attempt, pid, at = '0'] = line.split(' ');
    if (what !== 'begin' && what !== 'alive' && what !== 'end') throw new Error(line);
    return { what, agent, state, attempt: Number(attempt), pid: Number(pid), at: BigInt(at) };
  });
}

/** Pairs of executions of one agent that were alive at the same time. */
export function overlaps(effects: readonly Effect[]): readonly string[] {
  const found: string[] = [];
  const last = new Map<string, Effect>();
  const byTime = [...effects].sort((a, b) => (a.at < b.at ? -1 : 1));
  for (const effect of byTime) {
    const before = last.get(effect.agent);
    const isOther = before !== undefined && before.pid !== effect.pid;
    if (isOther && effect.what !== 'begin')
      found.push(`${effect.agent} ${effect.state}: ${before.pid} and ${effect.pid}`);
    last.set(effect.agent, effect);
  }
  return found;
}
