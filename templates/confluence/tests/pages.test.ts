import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('confluence/pages', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'pages' }))('$name', ({ play }) =>
    play(),
  );
});
