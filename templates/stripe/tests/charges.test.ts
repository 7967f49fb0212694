import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('stripe/charges', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'charges' }))('$name', ({ play }) =>
    play(),
  );
});
