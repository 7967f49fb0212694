import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gong/calls', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'calls' }))('$name', ({ play }) =>
    play(),
  );
});
