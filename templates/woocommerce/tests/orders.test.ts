import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('woocommerce/orders', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'orders' }))('$name', ({ play }) =>
    play(),
  );
});
