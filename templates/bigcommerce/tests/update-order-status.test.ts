import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bigcommerce/update-order-status', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'update-order-status' }))(
    '$name',
    ({ play }) => play(),
  );
});
