import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('okta/create-user', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-user' }))(
    '$name',
    ({ play }) => play(),
  );
});
