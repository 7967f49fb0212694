import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('discord-bot/members', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'members' }))('$name', ({ play }) =>
    play(),
  );
});
