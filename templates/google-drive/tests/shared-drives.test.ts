import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-drive/shared-drives', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'shared-drives' }))(
    '$name',
    ({ play }) => play(),
  );
});
