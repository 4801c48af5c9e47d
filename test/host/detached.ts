/**
 * A process that carries one run and has no standard streams: only the store of runs reaches it. It
 * listens to no signal, asks no person, and its exit code says nothing.
 */
import { projectHost } from './project-host.ts';

const [folder = '', run = '', workflow = ''] = process.argv.slice(2);
const host = await projectHost(folder);
await host.carry(run, workflow);
