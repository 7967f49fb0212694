import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('wrike/tasks', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'tasks' }))('$name', ({ play }) =>
    play(),
  );
});
