import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('box/folder-items', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'folder-items' }))(
    '$name',
    ({ play }) => play(),
  );
});
