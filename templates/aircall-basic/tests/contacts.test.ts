import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('aircall-basic/contacts', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'contacts' }))('$name', ({ play }) =>
    play(),
  );
});
