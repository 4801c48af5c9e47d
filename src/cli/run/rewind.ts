import { runToChange } from '../../app/find-run.ts';
import { rewind as rewindRun } from '../../app/rewind.ts';
import type { RewindPlan } from '../../interpret/plan-rewind.ts';
import type { Door } from '../../model/notice.ts';
import type { RewindRequest } from '../../model/rewind-request.ts';
import { shellWord } from '../../model/shell-word.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { stepNamed } from '../look/step-name.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { terminalDoor } from '../terminal/terminal-door.ts';

export interface RewindOptions {
  readonly to?: string;
  readonly undo?: boolean;
  readonly files?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Takes a run back to the moment before a step, or undoes the last rewind. */
export async function rewind(here: Here, name: string, options: RewindOptions): Promise<number> {
  const around = await here();
  const id = await runToChange(around.store, name);
  const request = requestFrom(id, options);
  const { files = true, yes = false, json } = options;
  const { agree, notice } = terminalDoor();
  // A program reads the output, so it gets no lines about the plan.
  const door: Door = json
    ? { agree: ({ kind }) => agree({ kind, facts: [] }), notice: () => {} }
    : { agree, notice };
  const rewound = await rewindRun(around, id, request, { files, agreed: yes }, door);
  const { event, back } = rewound.plan;
  if (json)
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
  return { kind: 'to', ...stepNamed(to, id) };
}

function nextLines(id: string, { event }: RewindPlan): readonly string[] {
  const run = shellWord(id);
  const isOver = event.outcome === 'completed';
  return [
    ...(isOver ? [] : [`To continue: raymond resume ${run}`]),
    ...(event.to ? [`To undo this: raymond rewind ${run} --undo`] : []),
  ];
}
