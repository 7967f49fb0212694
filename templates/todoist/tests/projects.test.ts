import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('todoist/projects', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'projects' }))('$name', ({ play }) =>
    play(),
  );
});
