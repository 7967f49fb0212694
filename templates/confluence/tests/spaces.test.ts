import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('confluence/spaces', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'spaces' }))('$name', ({ play }) =>
    play(),
  );
});
