import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('stripe/create-customer', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-customer' }))(
    '$name',
    ({ play }) => play(),
  );
});
