import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('ashby/create-candidate', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-candidate' }))(
    '$name',
    ({ play }) => play(),
  );
});
