// Process control: everything that runs outside of Raymond is begun, followed, ended and found again
// through here.
export { changesOf } from './process/changes.ts';
export { follow } from './process/follow.ts';
export {
  identify,
  isAlive,
  isSuspended,
  type ProcessIdentity,
  processSpace,
  self,
  signalProcess,
} from './process/identity.ts';
export { watchIdle } from './process/idle.ts';
export type { Launch } from './process/launch.ts';
export { outputOf } from './process/output-of.ts';
export { type Exit, signalOf } from './process/record.ts';
export {
  foldersWithProcesses,
  hasLivingProcess,
  type LaunchedProcess,
  RunProcesses,
} from './process/run-processes.ts';
