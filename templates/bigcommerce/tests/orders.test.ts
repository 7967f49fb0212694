import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bigcommerce/orders', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'orders' }))('$name', ({ play }) =>
    play(),
  );
});
