import { type BoundReport, type BoundRequest, bound as boundOf } from '../../app/bound.ts';
import { boundLines, boundNotes, costText, pathText, timeText } from '../../app/bound-words.ts';
import { counted } from '../../model/counted.ts';
import { usd } from '../../observe/words.ts';
import type { Here } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';

/** Prints the most that a run can use. Returns 1 if there is no limit, or if it is unknown. */
export async function bound(
  here: Here,
  path: string,
  { json, ...request }: BoundRequest & { readonly json?: boolean },
): Promise<number> {
  const report = await boundOf(await here(), path, request);
  if (json) stdout.json(report);
  else print(report);
  return report.prompts === null ? 1 : 0;
}

function print(report: BoundReport): void {
  const { prompts, agents, paths, budget_usd: budget } = report;
  const [first = '', ...problems] = boundLines(report);
  stdout.say(first, ...problems.map((problem) => `  ${problem}`), '');
  stdout.say(
    `prompts  ${prompts ?? 'no limit'}`,
    `agents   ${agents}`,
    `dollars  ${costText(report)}`,
    `time     ${timeText(report)}`,
    budget === null
      ? 'budget   none'
      : `budget   ${usd(budget)} stops a run at the latest, after the last call of each turn`,
  );
  if (paths.length > 0) stdout.say('', paths.length === 1 ? 'The only path:' : 'The worst paths:');
  for (const { prompts, cost_usd, steps } of paths) {
    const cost = cost_usd === null ? '' : `, ${usd(cost_usd, true)}`;
    const most = prompts === null ? 'no limit' : `${counted(prompts, 'prompt')}${cost}`;
    stdout.say(`  ${most}: ${pathText(steps)}`);
  }
  stdout.say('', ...boundNotes(report));
}
