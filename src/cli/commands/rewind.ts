import { rewindRun } from '../../host/rewind-run.ts';
import { FIRST_AGENT } from '../../interpret/new-run.ts';
import type { RewindPlan } from '../../interpret/plan-rewind.ts';
import { counted } from '../../model/counted.ts';
import type { RewindRequest } from '../../model/rewind-request.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { usd } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { refuseInside } from '../inside.ts';
import { runToChange } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';
import { rewindPorts } from '../wire.ts';

export interface RewindOptions {
  readonly to?: string;
  readonly undo?: boolean;
  readonly files?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Takes a run back to the moment before a step, or takes the last rewind back. */
export async function rewind(here: Here, name: string, options: RewindOptions): Promise<number> {
  const around = await here();
  const id = await runToChange(around.store, name);
  const request = requestFrom(id, options);
  await refuseInside(around, id, 'rewind it');
  const { files = true } = options;
  const rewound = await rewindRun(await rewindPorts(around, id), id, request, {
    files,
    agree: async (plan) => {
      if (!options.json) stderr.say(...planLines(id, plan, files));
      if (!options.yes) await askForConsent();
    },
  });
  const { event, back } = rewound.plan;
  if (options.json)
    stdout.json({
      workflow_id: id,
      rewound: true,
      agents: back.map(({ agent }) => agent),
      gone: event.gone,
      abandoned: event.abandoned,
      cost_usd: event.costUsd,
      ...(event.isPriced && { cost_is_estimate: true }),
      files: rewound.event.files.map(({ root }) => root),
      condition: event.outcome,
    });
  else for (const line of nextLines(id, rewound.plan)) stderr.offer(line);
  return 0;
}

function requestFrom(id: string, { to, undo }: RewindOptions): RewindRequest {
  const steps = `To see the steps: raymond show ${shellWord(id)} --steps`;
  if (undo && to !== undefined)
    throw wrongUsage('Both --to and --undo are given.', 'Remove one of them.');
  if (undo) return { kind: 'undo' };
  if (to === undefined)
    throw wrongUsage('No step is named.', `Name one: --to <agent>:<step>. ${steps}`);
  const [, agent = FIRST_AGENT, step = ''] = /^(?:(.+):)?([1-9]\d{0,8})$/.exec(to) ?? [];
  if (step === '')
    throw wrongUsage(`--to is "${to}".`, `Write an agent and a step, such as main:3. ${steps}`);
  return { kind: 'to', agent, step: Number(step) };
}

async function askForConsent(): Promise<void> {
  if (!canConfirm())
    throw wrongUsage('Raymond cannot ask here whether to rewind.', 'To rewind, add --yes.');
  if (!(await confirm('Rewind?')))
    throw new UserError('not-agreed', 'Nothing has changed.', 'To rewind, answer yes.');
}

function planLines(
  id: string,
  { event, back, files, withoutFiles }: RewindPlan,
  isWithFiles: boolean,
) {
  const { to, gone, abandoned, costUsd, isPriced } = event;
  const steps = abandoned.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const others = back.filter(({ agent }) => agent !== to?.agent);
  const roots = files.map(({ root }) => root);
  return [
    to
      ? `${id} goes back to the moment before ${to.agent}:${to.step}.`
      : `The last rewind of ${id} is taken back.`,
    ...(to && others.length > 0
      ? [
          `  ${names(others.map(({ agent }) => agent))} shared its files or its results, and goes back with it.`,
        ]
      : []),
    ...(gone.length > 0 ? [`  Gone: ${names(gone)}, forked after that moment.`] : []),
    ...(steps > 0
      ? [
          `  Abandoned: ${counted(steps, 'step')}, ${usd(costUsd, isPriced)}. They stay readable, and the money stays spent.`,
        ]
      : []),
    ...(isWithFiles && roots.length > 0
      ? [
          `  Files of ${names(roots)} return to that moment. Files that git ignores, branches and commits stay.`,
        ]
      : []),
    ...(isWithFiles && withoutFiles.length > 0
      ? [`  Files of ${names(withoutFiles)} are left alone, because it is in no git repository.`]
      : []),
    ...(isWithFiles ? [] : ['  Files are left alone.']),
  ];
}

function nextLines(id: string, { event }: RewindPlan): readonly string[] {
  const run = shellWord(id);
  const isOver = event.outcome === 'completed';
  return [
    ...(isOver ? [] : [`To continue: raymond resume ${run}`]),
    ...(event.to ? [`To take this back: raymond rewind ${run} --undo`] : []),
  ];
}

function names(all: readonly string[]): string {
  const shown = all.slice(0, MOST_NAMES).join(', ');
  return all.length > MOST_NAMES ? `${shown} and ${all.length - MOST_NAMES} more` : shown;
}

const MOST_NAMES = 10;
