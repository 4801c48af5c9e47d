/** Carries one run at the terminal: with a person, reports and an exit code. */
import { lostTrees } from '../execute/git/lost-trees.ts';
import { attendance } from './attendance.ts';
import { type CarryRun, carryHere } from './carry-here.ts';
import { exitCode } from './exit-code.ts';
import { rehearsalOf } from './rehearsal-of.ts';
import { reporters, reportLine } from './reporters.ts';
import { runView } from './run-view.ts';
import { stderr, stdout } from './terminal.ts';

export const runAtTerminal: CarryRun = async (run, first, parts) => {
  const { around, options, patient = true } = parts;
  const workspace = around.workspace(run.id);
  const rehearsal = rehearsalOf(run, parts);
  const clock = rehearsal?.clock ?? around.clock;
  const view = runView(options, clock, around.clock);
  const { person, observers } = attendance({ clock, rehearsal, options, patient, view });
  const show = reportLine(options, view);
  const ended = await carryHere(run, first, parts, {
    clock,
    person,
    observers: [...reporters({ ...parts, workspace }, view), ...observers],
    report: (text) => show({ at: clock.now(), who: 'run', tone: 'warning', text }),
  });
  stderr.say(...(await lostTrees(ended)));
  // Last, because a reader that does not read must not block anything else.
  if (ended.result !== undefined && !options.json) await stdout.result(ended.result);
  return exitCode(ended);
};
