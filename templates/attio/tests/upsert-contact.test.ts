import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('attio/upsert-contact', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'upsert-contact' }))(
    '$name',
    ({ play }) => play(),
  );
});
