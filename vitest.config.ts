import { defineConfig } from 'vitest/config';

/** `fast` runs in process within a minute; `system` starts real gateways and is run one file at a time. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'fast',
          include: ['test/{unit,contract,golden,simulation}/**/*.test.ts', 'test/tidy.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{api,e2e}/**/*.test.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
