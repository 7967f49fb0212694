import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('notion/database-pages', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'database-pages' }))(
    '$name',
    ({ play }) => play(),
  );
});
