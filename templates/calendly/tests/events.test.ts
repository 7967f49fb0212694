import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('calendly/events', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'events' }))('$name', ({ play }) =>
    play(),
  );
});
