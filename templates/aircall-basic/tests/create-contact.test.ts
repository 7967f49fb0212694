import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('aircall-basic/create-contact', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-contact' }))(
    '$name',
    ({ play }) => play(),
  );
});
