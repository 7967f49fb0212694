import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-workspace-admin/groups', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'groups' }))('$name', ({ play }) =>
    play(),
  );
});
