// A process that the launcher starts passes the tests of a process with its own wrapper.
import { afterAll } from 'vitest';
import { useLauncher, useWrappers } from './fixtures/steps.ts';
import { launchTests } from './launch-tests.ts';

useLauncher();
afterAll(useWrappers);
launchTests();
