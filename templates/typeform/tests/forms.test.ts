import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('typeform/forms', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'forms' }))('$name', ({ play }) =>
    play(),
  );
});
