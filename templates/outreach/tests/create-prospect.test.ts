import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('outreach/create-prospect', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-prospect' }))(
    '$name',
    ({ play }) => play(),
  );
});
