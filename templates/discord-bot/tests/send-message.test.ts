import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('discord-bot/send-message', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'send-message' }))(
    '$name',
    ({ play }) => play(),
  );
});
