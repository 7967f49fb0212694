import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('help-scout/conversations', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'conversations' }))(
    '$name',
    ({ play }) => play(),
  );
});
