import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('microsoft-teams/channels', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'channels' }))('$name', ({ play }) =>
    play(),
  );
});
