import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('trello/boards', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'boards' }))('$name', ({ play }) =>
    play(),
  );
});
