import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('auth0-cc/organizations', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'organizations' }))(
    '$name',
    ({ play }) => play(),
  );
});
