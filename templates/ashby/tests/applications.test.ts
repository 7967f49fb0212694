import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('ashby/applications', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'applications' }))(
    '$name',
    ({ play }) => play(),
  );
});
