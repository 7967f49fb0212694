import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('pagerduty/incidents', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'incidents' }))('$name', ({ play }) =>
    play(),
  );
});
