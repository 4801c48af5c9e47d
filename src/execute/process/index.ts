// Process control: Raymond launches, follows, stops and finds all other processes through this
// folder.
export { makeFifo } from './fifo.ts';
export { follow } from './follow.ts';
export {
  identify,
  isAlive,
  isSuspended,
  type ProcessIdentity,
  processSpace,
  self,
  signalProcess,
} from './identity.ts';
export { watchIdle } from './idle.ts';
export type { Launch } from './launch.ts';
export { foldersWithProcesses, hasLivingProcess } from './living-processes.ts';
export { outputOf } from './output-of.ts';
export { type Exit, signalOf } from './record.ts';
export { type LaunchedProcess, type PreparedLaunch, RunProcesses } from './run-processes.ts';
