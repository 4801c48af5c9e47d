import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunCodec } from '../journal/file-journal.ts';
import { freeze } from '../journal/freeze-run.ts';
import { thaw } from '../journal/thaw-run.ts';
import type { Run } from '../model/run.ts';

/** How events become a run, and a run becomes JSON. */
export const runCodec: RunCodec<Run> = {
  apply: (run, event) => apply(run ?? newRun, event),
  freeze,
  thaw(json) {
    const run = thaw(json);
    if (!run) throw new Error('This is not the state of a run.');
    return run;
  },
};
