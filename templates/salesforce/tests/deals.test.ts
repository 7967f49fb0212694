import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('salesforce/deals', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'deals' }))('$name', ({ play }) =>
    play(),
  );
});
