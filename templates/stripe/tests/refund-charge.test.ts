import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('stripe/refund-charge', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'refund-charge' }))(
    '$name',
    ({ play }) => play(),
  );
});
