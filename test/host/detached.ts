/**
 * A process that carries one run and has no standard streams. Only the store of runs reaches it. It
 * listens to no signal and asks no person, and its exit code has no meaning.
 */
import { projectHost } from './project-host.ts';

const [folder = '', run = '', workflow = ''] = process.argv.slice(2);
const host = await projectHost(folder);
await host.carry(run, workflow);
