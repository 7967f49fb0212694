import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('airtable/bases', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'bases' }))('$name', ({ play }) =>
    play(),
  );
});
