import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('confluence/create-page', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-page' }))(
    '$name',
    ({ play }) => play(),
  );
});
