import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('jira/issues', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'issues' }))('$name', ({ play }) =>
    play(),
  );
});
