import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('deel/time-offs', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'time-offs' }))('$name', ({ play }) =>
    play(),
  );
});
