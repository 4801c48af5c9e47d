// Process control: everything that runs outside of Raymond is begun, followed, ended and found again
// through here.
export { adopt } from './process/adopt.ts';
export { changesOf } from './process/changes.ts';
export { follow } from './process/follow.ts';
export { identify, isAlive, type ProcessIdentity, self } from './process/identity.ts';
export { watchIdle } from './process/idle.ts';
export { type Launch, launch } from './process/launch.ts';
export type { LaunchedProcess } from './process/launched-process.ts';
export { type Exit, signalOf } from './process/record.ts';
export { endLeftovers } from './process/stop.ts';
