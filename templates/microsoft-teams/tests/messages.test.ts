import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('microsoft-teams/messages', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'messages' }))('$name', ({ play }) =>
    play(),
  );
});
