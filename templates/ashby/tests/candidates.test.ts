import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('ashby/candidates', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'candidates' }))('$name', ({ play }) =>
    play(),
  );
});
