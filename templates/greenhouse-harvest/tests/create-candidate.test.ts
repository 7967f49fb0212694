import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('greenhouse-harvest/create-candidate', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-candidate' }))(
    '$name',
    ({ play }) => play(),
  );
});
