import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['test/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
