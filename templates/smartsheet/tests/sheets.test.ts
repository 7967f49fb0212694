import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('smartsheet/sheets', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'sheets' }))('$name', ({ play }) =>
    play(),
  );
});
