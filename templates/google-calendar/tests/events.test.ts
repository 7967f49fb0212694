import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-calendar/events', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'events' }))('$name', ({ play }) =>
    play(),
  );
});
