import { vi } from 'vitest';

// The first test waits for the sandbox.
vi.setConfig({ testTimeout: 60_000 });
