import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('one-drive/create-folder', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-folder' }))(
    '$name',
    ({ play }) => play(),
  );
});
