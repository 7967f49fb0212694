import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('microsoft-teams/teams', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'teams' }))('$name', ({ play }) =>
    play(),
  );
});
