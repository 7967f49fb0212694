import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('sharepoint-online/lists', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'lists' }))('$name', ({ play }) =>
    play(),
  );
});
