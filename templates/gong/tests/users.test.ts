import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gong/users', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'users' }))('$name', ({ play }) =>
    play(),
  );
});
