import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('lever-basic/opportunities', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'opportunities' }))(
    '$name',
    ({ play }) => play(),
  );
});
