import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('sharepoint-online/files', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'files' }))('$name', ({ play }) =>
    play(),
  );
});
