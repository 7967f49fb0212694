import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('gitlab/merge-requests', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'merge-requests' }))(
    '$name',
    ({ play }) => play(),
  );
});
