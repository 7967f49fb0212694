import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('help-scout/add-note', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'add-note' }))('$name', ({ play }) =>
    play(),
  );
});
