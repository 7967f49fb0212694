import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gorgias-basic/customers', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'customers' }))('$name', ({ play }) =>
    play(),
  );
});
