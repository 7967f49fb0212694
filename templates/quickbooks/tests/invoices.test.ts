import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('quickbooks/invoices', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'invoices' }))('$name', ({ play }) =>
    play(),
  );
});
