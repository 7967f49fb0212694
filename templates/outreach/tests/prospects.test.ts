import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('outreach/prospects', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'prospects' }))('$name', ({ play }) =>
    play(),
  );
});
