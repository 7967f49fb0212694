import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gong/create-call', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-call' }))(
    '$name',
    ({ play }) => play(),
  );
});
