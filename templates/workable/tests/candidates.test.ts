import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('workable/candidates', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'candidates' }))('$name', ({ play }) =>
    play(),
  );
});
