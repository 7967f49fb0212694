import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*/tests/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    // One process for all: the sandbox is opened once.
    isolate: false,
    fileParallelism: false,
  },
});
