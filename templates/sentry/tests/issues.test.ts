import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('sentry/issues', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'issues' }))('$name', ({ play }) =>
    play(),
  );
});
