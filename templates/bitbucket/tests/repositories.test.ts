import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bitbucket/repositories', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'repositories' }))(
    '$name',
    ({ play }) => play(),
  );
});
