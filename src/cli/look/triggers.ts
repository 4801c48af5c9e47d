/** Lists the triggers of a project, with the last and the next occasion of each. */
import { type ListedTrigger, triggers as listTriggers } from '../../app/triggers.ts';
import { shellWord } from '../../model/shell-word.ts';
import { type OccasionOutcome, startedByOf, startedByText } from '../../model/trigger.ts';
import { oneLine, time } from '../../observe/words.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { type Column, table } from './table.ts';

export async function triggers(here: Here, { json }: { readonly json?: boolean }): Promise<number> {
  const { triggers: found, problems } = await listTriggers(await here());
  if (json) for (const one of found) stdout.json(formOf(one));
  else if (found.length > 0) for (const line of table(COLUMNS, found.map(row))) stdout.say(line);
  else stderr.say('No workflow of this project has triggers.');
  stderr.say(...problems.map((problem) => `Cannot read ${problem}`));
  const paths = new Set(found.flatMap(({ path, isApproved }) => (isApproved ? [] : path)));
  if (!json)
    stderr.say(
      ...[...paths].map(
        (path) =>
          `The triggers of ${path} start nothing before you approve them: raymond trust ${shellWord(path)}`,
      ),
    );
  return 0;
}

const COLUMNS: readonly Column[] = [
  { head: 'WORKFLOW' },
  { head: 'TRIGGER' },
  { head: 'APPROVED' },
  { head: 'NEXT' },
  { head: 'WAITING', isNumber: true, isOptional: true },
  { head: 'LAST' },
];

function row({ path, key, isApproved, next, waiting, last }: ListedTrigger): readonly string[] {
  const now = Date.now();
  return [
    ...[path, key.name, isApproved ? 'yes' : 'no'],
    next === undefined ? '' : time(next, now),
    waiting === 0 ? '' : String(waiting),
    last ? `${time(last.occasion.at, now)} ${outcomeText(last.outcome, last.occasion.run)}` : '',
  ];
}

function outcomeText(outcome: OccasionOutcome, run: string): string {
  switch (outcome.kind) {
    case 'due':
      return 'waits';
    case 'started':
      return `started ${run}`;
    case 'over':
      return `${run} ${outcome.how}`;
    case 'skipped':
    case 'refused': {
      const times = outcome.kind === 'skipped' ? (outcome.times ?? 1) : 1;
      return `${outcome.kind}${times > 1 ? ` ${times} times` : ''}: ${oneLine(outcome.why)}`;
    }
  }
}

function formOf({ path, key, trigger, isApproved, next, waiting, last }: ListedTrigger): object {
  return {
    ...{ workflow: path, trigger: key.name, kind: trigger.kind, approved: isApproved, waiting },
    next: next === undefined ? null : new Date(next).toISOString(),
    last: last
      ? {
          at: new Date(last.occasion.at).toISOString(),
          what: startedByText(startedByOf(last.occasion)),
          run: last.occasion.run,
          outcome: last.outcome.kind,
          why: 'why' in last.outcome ? last.outcome.why : null,
        }
      : null,
  };
}
