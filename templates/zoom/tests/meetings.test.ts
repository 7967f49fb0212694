import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('zoom/meetings', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'meetings' }))('$name', ({ play }) =>
    play(),
  );
});
