// For the commands that take pictures of the page of `raymond serve` and measure it. Both need the
// built program, the real agent and a browser, like the tests.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/browser/*.make.ts'],
    globalSetup: ['test/prepare.ts'],
    testTimeout: 600_000,
  },
});
