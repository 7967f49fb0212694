import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('personio/persons', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'persons' }))('$name', ({ play }) =>
    play(),
  );
});
