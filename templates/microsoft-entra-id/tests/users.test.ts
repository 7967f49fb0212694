import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('microsoft-entra-id/users', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'users' }))('$name', ({ play }) =>
    play(),
  );
});
