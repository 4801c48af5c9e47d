import { boundLines } from '../../app/bound-words.ts';
import { type CheckReport, check as checkIt } from '../../app/check.ts';
import { counted } from '../../model/counted.ts';
import { stemOf } from '../../parse/state.ts';
import { diagnosticLine } from '../../world/diagnostic-line.ts';
import type { Here } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';

/** Prints everything that can be found out without a run. Returns 1 if the workflow is faulty. */
export async function check(
  here: Here,
  path: string,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const report = await checkIt(await here(), path);
  if (json) stdout.json(report);
  else stdout.say(...checkLines(report));
  return report.verdict === 'faulty' ? 1 : 0;
}

export function checkLines(report: CheckReport): readonly string[] {
  const { verdict, next, findings, findings_omitted: omitted, bound } = report;
  const more = omitted > 0 ? [`... and ${omitted} more`] : [];
  return [
    ...findings.map(diagnosticLine),
    ...more,
    `lint      ${findings.length === 0 ? 'no problems' : counted(findings.length + omitted, 'finding')}`,
    ...exploredLines(report),
    ...(bound
      ? boundLines(bound).map((line, n) => `${n === 0 ? 'bound   ' : '        '}  ${line}`)
      : []),
    ...rehearsalLines(report),
    `verdict   ${verdict}. ${next}`,
  ];
}

function exploredLines({ explored }: CheckReport): readonly string[] {
  if (!explored) return [];
  const { states_missed: missed, transitions_taken: taken, transitions_known: known } = explored;
  const all = explored.states_reached + missed.length;
  const stopped = explored.complete ? '' : ', and the limit was reached';
  return [
    `explore   ${explored.states_reached} of ${counted(all, 'state')} and ${taken} of ${counted(known, 'transition')} can be reached${stopped}`,
  ];
}

function rehearsalLines({ rehearsal }: CheckReport): readonly string[] {
  if (!rehearsal) return [];
  const { outcome, steps, path, problems } = rehearsal;
  const way = path.length > 0 ? `: ${path.map(stemOf).join(' → ')}` : '';
  return [
    `rehearse  ${outcome} after ${counted(steps, 'step')}${way}`,
    ...problems.map(({ agent, state, message }) => `          ${agent}, ${state}: ${message}`),
  ];
}
