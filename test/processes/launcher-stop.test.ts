// A process that the launcher starts passes the tests of a process with its own wrapper.
import { useLauncher } from './fixtures/steps.ts';

useLauncher();
await import('./process-stop.test.ts');
