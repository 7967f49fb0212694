import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('salesloft/accounts', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'accounts' }))('$name', ({ play }) =>
    play(),
  );
});
