import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('xero/create-contact', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-contact' }))(
    '$name',
    ({ play }) => play(),
  );
});
