/**
 * Carries one run in a process without a terminal. It writes no report: the
 * journal has it, and other processes show it. Questions wait for `raymond answer`.
 */
import { ANSWERING_BY_MAIL, NOBODY } from '../host/ask-person.ts';
import { rehearsedPerson } from '../host/rehearsed-person.ts';
import type { Observer } from '../ports.ts';
import { type CarryRun, carryHere } from './carry-here.ts';
import { exitCode } from './exit-code.ts';
import { rehearsalOf } from './rehearsal-of.ts';
import { keptReports } from './reporters.ts';
import { stderr } from './terminal.ts';

/** Calls `began` when the journal holds the first event of this process. */
export function runInBackground(began: () => void): CarryRun {
  return async (run, first, parts) => {
    const { around, options } = parts;
    const rehearsal = rehearsalOf(run, parts);
    const waits = options.wait ?? run.settings.wait;
    const ended = await carryHere(run, first, parts, {
      clock: rehearsal?.clock ?? around.clock,
      person: rehearsal
        ? rehearsedPerson(rehearsal.replies, rehearsal.clock)
        : waits
          ? ANSWERING_BY_MAIL
          : NOBODY,
      observers: [
        ['The start', onFirstEvent(began)],
        ...keptReports({ ...parts, workspace: around.workspace(run.id) }),
      ],
      report: stderr.say,
    });
    return exitCode(ended);
  };
}

function onFirstEvent(act: () => void): Observer {
  let isFirst = true;
  return {
    event() {
      if (isFirst) act();
      isFirst = false;
    },
    live: () => {},
  };
}
