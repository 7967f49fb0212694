import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('workable/jobs', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'jobs' }))('$name', ({ play }) =>
    play(),
  );
});
