/** Lists the triggers of a project, with the last and the next occasion of each. */

import { replay } from '../../app/replay.ts';
import { type ListedTrigger, triggers as listTriggers } from '../../app/triggers.ts';
import { occasionForm } from '../../look/trigger-form.ts';
import { shellWord } from '../../model/shell-word.ts';
import { type OccasionOutcome, startedByOf, startedByText } from '../../model/trigger.ts';
import { oneLine, time } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { type Column, table } from './table.ts';

export interface TriggersOptions {
  readonly json?: boolean;
  readonly occasions?: string;
  readonly replay?: string;
}

export async function triggers(here: Here, options: TriggersOptions): Promise<number> {
  const { json, occasions, replay: old } = options;
  const around = await here();
  if (old !== undefined) {
    const { id, run } = await replay(around, old);
    await stdout.document(`${id}\n`);
    stderr.say(`The delivery is due again. raymond up starts its run ${run}.`);
    return 0;
  }
  if (occasions !== undefined) return showOccasions(around, countOf(occasions), json);
  const { triggers: found, problems } = await listTriggers(around);
  if (json) for (const one of found) stdout.json(formOf(one));
  else if (found.length > 0) for (const line of table(COLUMNS, found.map(row))) stdout.say(line);
  else stderr.say('No workflow of this project has triggers.');
  stderr.say(...problems);
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

async function showOccasions(around: Surroundings, most: number, json = false): Promise<number> {
  const { occasions } = await listTriggers(around, most);
  const now = Date.now();
  if (json) for (const one of occasions) stdout.json(occasionForm(one));
  else if (occasions.length === 0) stderr.say('Nothing has started by itself in this project yet.');
  else {
    const rows = occasions.map(({ occasion, outcome }) => [
      ...[occasion.id, time(occasion.at, now), oneLine(startedByText(startedByOf(occasion)))],
      outcomeText(outcome, occasion.run),
    ]);
    const columns = ['OCCASION', 'AT', 'WHAT', 'OUTCOME'].map((head) => ({ head }));
    for (const line of table(columns, rows)) stdout.say(line);
  }
  return 0;
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw wrongUsage(`--occasions is "${text}".`, 'Write a number from 1 to 999999.');
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
