import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('airtable/webhooks', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'webhooks' }))('$name', ({ play }) =>
    play(),
  );
});
