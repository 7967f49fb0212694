import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('klaviyo/profiles', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'profiles' }))('$name', ({ play }) =>
    play(),
  );
});
