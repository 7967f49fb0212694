import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('smartsheet/add-row', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'add-row' }))('$name', ({ play }) =>
    play(),
  );
});
