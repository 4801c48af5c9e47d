// What holds for a process with a wrapper of its own also holds for one that the launcher starts.
import { useLauncher } from './fixtures/steps.ts';

useLauncher();
await import('./process-stop.test.ts');
