import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('workable/move-candidate', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'move-candidate' }))(
    '$name',
    ({ play }) => play(),
  );
});
