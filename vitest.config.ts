import { defineConfig } from 'vitest/config';

/** Tests against real Kafka, registry and Redis, wherever they lie. */
const withServices = 'test/**/*.{kafka,redis,registry,services}.test.ts';

/**
 * `fast` runs in process within a minute; `system` starts real gateways, `services` real Kafka, registry and
 * Redis: these are run one file at a time.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'fast',
          include: ['test/{unit,contract,golden,simulation}/**/*.test.ts', 'test/tidy.test.ts'],
          exclude: [withServices],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{api,e2e}/**/*.test.ts'],
          exclude: [withServices],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'services',
          include: [withServices],
          globalSetup: 'test/services/setup.ts',
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
