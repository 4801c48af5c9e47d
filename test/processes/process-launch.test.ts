import { launchTests } from './launch-tests.ts';

launchTests();
