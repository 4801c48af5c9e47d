import {
  confinedGoto,
  confinedProcess,
  processPerState,
  warmGoto,
  warmShare,
} from './cases/agent-states.ts';
import { listRuns, startBesideRuns } from './cases/finished-runs.ts';
import { fleet } from './cases/fleet.ts';
import { foldEvent } from './cases/fold-event.ts';
import { hostilePrints, hostileTags } from './cases/hostile-text.ts';
import { idleUp, idleUpMemory } from './cases/idle-up.ts';
import { liveView } from './cases/live-view.ts';
import { resumeLong, resumeSnapshots, showLong } from './cases/long-journal.ts';
import { agentsOrStates, memoryOfAgents } from './cases/many-agents.ts';
import { packageSize } from './cases/package-size.ts';
import { scriptAgents } from './cases/script-agents.ts';
import { scriptOutput, scriptOutputMemory } from './cases/script-output.ts';
import {
  confinedStart,
  confinedTransition,
  scriptFixed,
  scriptTransition,
  scriptTransitionNoDebug,
} from './cases/script-transition.ts';
import { serveLong, serveLongMemory } from './cases/serve.ts';
import { startHelp, startList, startRun } from './cases/start-up.ts';
import { stopAgents } from './cases/stop-agents.ts';
import { verifyJournal } from './cases/verify-journal.ts';
import type { BenchCase } from './frame/case.ts';
import { main } from './frame/main.ts';

/** All cases, in the order of the table. */
export const CASES: readonly BenchCase[] = [
  scriptTransition,
  scriptTransitionNoDebug,
  scriptFixed,
  confinedTransition,
  confinedStart,
  scriptAgents,
  stopAgents,
  startBesideRuns,
  listRuns,
  hostileTags,
  hostilePrints,
  showLong,
  serveLong,
  serveLongMemory,
  idleUp,
  idleUpMemory,
  resumeSnapshots,
  resumeLong,
  verifyJournal,
  scriptOutput,
  scriptOutputMemory,
  ...warmGoto,
  ...warmShare,
  confinedGoto,
  confinedProcess,
  ...processPerState,
  startHelp,
  startList,
  startRun,
  packageSize,
  ...memoryOfAgents,
  agentsOrStates,
  liveView,
  foldEvent,
  ...fleet,
];

export function bench(words: readonly string[]): Promise<number> {
  return main(words, CASES);
}
