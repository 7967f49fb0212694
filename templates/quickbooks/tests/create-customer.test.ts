import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('quickbooks/create-customer', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-customer' }))(
    '$name',
    ({ play }) => play(),
  );
});
