import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('outlook/mail-folders', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'mail-folders' }))(
    '$name',
    ({ play }) => play(),
  );
});
