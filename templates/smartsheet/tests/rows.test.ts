import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('smartsheet/rows', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'rows' }))('$name', ({ play }) =>
    play(),
  );
});
