import { stopTests } from './stop-tests.ts';

stopTests();
