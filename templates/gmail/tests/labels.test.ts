import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gmail/labels', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'labels' }))('$name', ({ play }) =>
    play(),
  );
});
