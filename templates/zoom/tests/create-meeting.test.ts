import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('zoom/create-meeting', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-meeting' }))(
    '$name',
    ({ play }) => play(),
  );
});
