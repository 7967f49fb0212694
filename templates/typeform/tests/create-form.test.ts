import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('typeform/create-form', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-form' }))(
    '$name',
    ({ play }) => play(),
  );
});
