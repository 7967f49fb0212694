import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('auth0-cc/organization-members', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'organization-members' }))(
    '$name',
    ({ play }) => play(),
  );
});
