import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('monday/items', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'items' }))('$name', ({ play }) =>
    play(),
  );
});
