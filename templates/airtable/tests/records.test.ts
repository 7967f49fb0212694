import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('airtable/records', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'records' }))('$name', ({ play }) =>
    play(),
  );
});
