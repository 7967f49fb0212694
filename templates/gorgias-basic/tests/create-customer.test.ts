import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gorgias-basic/create-customer', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-customer' }))(
    '$name',
    ({ play }) => play(),
  );
});
