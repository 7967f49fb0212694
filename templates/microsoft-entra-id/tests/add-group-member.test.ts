import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('microsoft-entra-id/add-group-member', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'add-group-member' }))(
    '$name',
    ({ play }) => play(),
  );
});
