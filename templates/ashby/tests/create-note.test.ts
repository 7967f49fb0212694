import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('ashby/create-note', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-note' }))(
    '$name',
    ({ play }) => play(),
  );
});
