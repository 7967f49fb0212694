import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('lever-basic/postings', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'postings' }))('$name', ({ play }) =>
    play(),
  );
});
