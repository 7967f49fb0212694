import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bitbucket/create-pull-request', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-pull-request' }))(
    '$name',
    ({ play }) => play(),
  );
});
