import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('typeform/responses', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'responses' }))('$name', ({ play }) =>
    play(),
  );
});
