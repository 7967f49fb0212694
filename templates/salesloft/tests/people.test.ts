import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('salesloft/people', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'people' }))('$name', ({ play }) =>
    play(),
  );
});
