import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('attio/companies', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'companies' }))('$name', ({ play }) =>
    play(),
  );
});
