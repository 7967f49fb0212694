import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('shopify/products', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'products' }))('$name', ({ play }) =>
    play(),
  );
});
