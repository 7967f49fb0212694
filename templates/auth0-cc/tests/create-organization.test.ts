import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('auth0-cc/create-organization', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-organization' }))(
    '$name',
    ({ play }) => play(),
  );
});
