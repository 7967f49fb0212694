import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-workspace-admin/create-group', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-group' }))(
    '$name',
    ({ play }) => play(),
  );
});
