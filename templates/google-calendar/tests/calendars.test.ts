import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-calendar/calendars', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'calendars' }))('$name', ({ play }) =>
    play(),
  );
});
