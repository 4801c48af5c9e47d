import { counted } from '../model/counted.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { Account, Printed } from '../model/step-account.ts';
import { type AlarmsOf, Describer, type Line } from './describe.ts';
import { quotes } from './plain.ts';

/** Returns the lines that a run showed for an event, from its journal alone. Prints and warnings come first. */
export function retelling(
  alarmsOf: AlarmsOf,
  hasView = false,
): (event: JournaledEvent, before: Run | undefined, after: Run) => readonly Line[] {
  const describer = new Describer(alarmsOf, !hasView);
  return (event, before, after) => {
    const lines = 'cost' in event ? keptLines(event) : [];
    const line = describer.describe(event, before, after);
    const isShown = line && line.tone !== 'faint' && line.tone !== 'detail';
    return isShown ? [...lines, line] : lines;
  };
}

function keptLines(event: JournaledEvent & Account & { readonly agent: string }): readonly Line[] {
  const { at, agent: who, printed, warnings = [] } = event;
  return [
    ...(printed ? printLines(event, printed) : []),
    ...warnings.map((text): Line => ({ at, who, tone: 'warning', text })),
  ];
}

/** The prints of a step, with the time of its end. */
export function printLines(
  { at, agent: who }: { readonly at: number; readonly agent: string },
  { text, omitted = 0 }: Printed,
): readonly Line[] {
  const lines = quotes(text, 'plain').map((said) => ({ at, who, ...said }));
  if (omitted === 0) return lines;
  const more = `printed ${counted(omitted, 'further character')}, which are not kept`;
  return [...lines, { at, who, tone: 'faint', text: more }];
}
