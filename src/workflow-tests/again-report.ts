/** Reports about runs that were played again, for people and programs. Differences with one cause form a group. */
import { counted } from '../model/counted.ts';
import type { Problem } from './expectations.ts';
import type { Finding, PlayedAgain } from './play-again.ts';

export interface AgainRun {
  readonly id: string;
  /** The differences, or why the run could not be played. */
  readonly found: PlayedAgain | { readonly problem: string };
}

export function againJson({ id, found }: AgainRun) {
  if ('problem' in found) return { run: id, result: 'not played', problem: found.problem };
  const { elsewhere, open, notKept } = found;
  const result = elsewhere.length > 0 ? 'elsewhere' : open.length > 0 ? 'open' : 'same';
  return {
    run: id,
    result,
    elsewhere: elsewhere.map(findingJson),
    open: open.map(findingJson),
    not_kept: notKept,
  };
}

function findingJson({ agent, step, state, cause, message, paths, reminder }: Finding) {
  const at = { agent, step, state, cause, message };
  return { ...at, ...paths, ...(reminder !== undefined && { reminder }) };
}

/** The differences of a run, in the form of a failed test. */
export function againProblems({ found }: AgainRun): readonly Problem[] {
  if ('problem' in found) return [];
  return found.elsewhere.map(({ agent, step, state, cause, message, paths, reminder }) => ({
    what: `${agent}:${step} ${state} (${cause})`,
    expected: paths?.was ?? '',
    got: paths?.now ?? '',
    detail: reminder === undefined ? message : `${message}\n${reminder}`,
  }));
}

interface Group {
  readonly finding: Finding;
  readonly at: { readonly run: string; readonly finding: Finding }[];
  readonly runs: Set<string>;
}

/** Collects what was found, by cause. */
export class AgainGroups {
  readonly #elsewhere = new Map<string, Group>();
  readonly #open = new Map<string, Group>();
  readonly #notPlayed: string[] = [];
  readonly #counts = { runs: 0, elsewhere: 0, open: 0, notKept: 0, cut: 0 };

  add({ id, found }: AgainRun): void {
    if ('problem' in found) {
      this.#notPlayed.push(`not played  ${id}: ${found.problem}`);
      return;
    }
    const { elsewhere, open, notKept } = found;
    const counts = this.#counts;
    counts.runs += 1;
    if (elsewhere.length > 0) counts.elsewhere += 1;
    else if (open.length > 0) counts.open += 1;
    if (notKept.length > 0) counts.cut += 1;
    counts.notKept += notKept.length;
    for (const finding of elsewhere) put(this.#elsewhere, id, finding);
    for (const finding of open) put(this.#open, id, finding);
  }

  get someElsewhere(): boolean {
    return this.#counts.elsewhere > 0;
  }

  lines(): readonly string[] {
    const groups = (all: ReadonlyMap<string, Group>) =>
      [...all.values()].sort((a, b) => order(a) - order(b));
    const { notKept, cut } = this.#counts;
    return [
      ...groups(this.#elsewhere).flatMap(elsewhereLines),
      ...groups(this.#open).map(openLine),
      ...(notKept > 0
        ? [
            `not kept    ${counted(notKept, 'answer')} of ${counted(cut, 'run')}. These steps were not compared.`,
          ]
        : []),
      ...this.#notPlayed,
      this.#summary(),
    ];
  }

  #summary(): string {
    const { runs, elsewhere, open } = this.#counts;
    const outcomes: readonly (readonly [number, string])[] = [
      [runs - elsewhere - open, 'would go the same way'],
      [open, 'might get other answers'],
      [elsewhere, 'would go elsewhere'],
      [this.#notPlayed.length, 'could not be played'],
    ];
    const some = outcomes.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
    return `${counted(runs, 'run')} played again: ${some.join(', ')}`;
  }
}

function put(groups: Map<string, Group>, run: string, finding: Finding): void {
  const key = JSON.stringify([finding.cause, finding.workflow, finding.state, finding.message]);
  const group = groups.get(key) ?? { finding, at: [], runs: new Set<string>() };
  groups.set(key, group);
  group.runs.add(run);
  if (group.at.length <= MOST_SHOWN) group.at.push({ run, finding });
}

const CAUSES: readonly string[] = ['policy', 'target', 'template', 'script'];
const order = ({ finding }: Group) => CAUSES.indexOf(finding.cause);

const headOf = ({ finding: { cause, state, message } }: Group) =>
  `${cause.padEnd(10)}  ${state}: ${message}`;

function elsewhereLines(group: Group): readonly string[] {
  const { at, runs, finding } = group;
  const shown = at.slice(0, MOST_SHOWN);
  const rest = runs.size - new Set(shown.map(({ run }) => run)).size;
  return [
    headOf(group),
    ...shown.map(
      ({ run, finding: { agent, step, paths } }) =>
        `              ${run} ${agent}:${step}  was ${paths?.was}, now ${paths?.now}`,
    ),
    ...(rest > 0 ? [`              and ${counted(rest, 'more run')}`] : []),
    ...(finding.reminder === undefined
      ? []
      : [`            The agent would be reminded:\n${finding.reminder}`]),
  ];
}

const openLine = (group: Group) => `${headOf(group)} (${counted(group.runs.size, 'run')})`;

/** The runs of one group that people want to see. JSON has all of them. */
const MOST_SHOWN = 5;
