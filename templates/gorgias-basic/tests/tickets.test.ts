import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gorgias-basic/tickets', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'tickets' }))('$name', ({ play }) =>
    play(),
  );
});
