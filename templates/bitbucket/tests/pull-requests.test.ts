import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bitbucket/pull-requests', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'pull-requests' }))(
    '$name',
    ({ play }) => play(),
  );
});
