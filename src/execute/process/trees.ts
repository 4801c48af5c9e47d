// The processes that are stopped together: those of a step, of the launcher, or the strays of a run.
import { boot, type ProcessIdentity } from './identity.ts';
import { LAUNCHER_NUMBER, markOf } from './mark.ts';
import { nameOf, type PidAndStart, type ProcessEntry } from './process-entry.ts';
import type { ProcessTable } from './process-table.ts';
import { stderrOf, stdoutOf } from './record.ts';
import type { Member, Tree } from './stop.ts';

interface StepProcesses {
  /** With all symbolic links resolved. */
  readonly folder: string;
  readonly token: string;
  /** Undefined while the wrapper, or the witness, is not known yet. */
  wrapper(): ProcessIdentity | undefined;
  readonly since: ProcessIdentity;
  /** The session that the step shares with others. */
  readonly launcher?: number | undefined;
}

export function stepTree({ folder, token, wrapper, since, launcher }: StepProcesses): Tree {
  const outputs = [stdoutOf(folder), stderrOf(folder)];
  const find = cumulativeFinder(
    (table) => [...table.named(names(wrapper())), ...table.marked(token, outputs)],
    launcher,
  );
  return {
    get wrapper() {
      return wrapper();
    },
    since: since.started,
    find: (table) => (since.boot === boot() ? find(table) : []),
  };
}

/** The launcher with its witnesses and all of their commands. */
export function launcherTree(identity: ProcessIdentity): Tree {
  return {
    since: identity.started,
    find: cumulativeFinder((table) => table.named(names(identity))),
  };
}

const names = (identity: ProcessIdentity | undefined) => (identity ? [nameOf(identity)] : []);

/** `since` is the start of the oldest process that can be one; undefined if any process can. */
export function strays(key: string, spared: () => Iterable<Tree>, since?: string): Tree {
  const marksOf = ({ traces: { tokens, limit } }: ProcessEntry) =>
    [limit, ...tokens.map(markOf)].filter((mark) => mark?.key === key);
  const find = cumulativeFinder((table) => table.entries.filter((one) => marksOf(one).length > 0));
  return {
    since,
    find: (table) => {
      const others = new Set([...spared()].flatMap((tree) => tree.find(table)).map(nameOf));
      const isStray = (one: PidAndStart) => !others.has(nameOf(one));
      // Wrappers and witnesses first: otherwise they would record our signal as the end of their command.
      const isFirst = (entry: ProcessEntry) =>
        entry.pid === entry.session ||
        marksOf(entry).some((mark) => mark?.number === LAUNCHER_NUMBER);
      const first = new Set(table.entries.filter(isFirst).map(nameOf));
      const rank = (one: PidAndStart) => (first.has(nameOf(one)) ? 0 : 1);
      return find(table, isStray).toSorted((a, b) => rank(a) - rank(b));
    },
  };
}

/** Finds processes and those related to them. Each call also finds all members found before. */
function cumulativeFinder(
  oursIn: (table: ProcessTable) => readonly ProcessEntry[],
  shared?: number,
): (table: ProcessTable, isWanted?: (one: PidAndStart) => boolean) => readonly Member[] {
  const known = new Set<string>();
  return (table, isWanted = () => true) => {
    const ours = [...table.named(known), ...oursIn(table)].filter(isWanted);
    const members = table.related(ours, shared).filter(isWanted);
    for (const member of members) known.add(nameOf(member));
    return members.map(({ pid, started, group }) => ({
      pid,
      started,
      boot: boot(),
      ...(group !== undefined && { group }),
    }));
  };
}
