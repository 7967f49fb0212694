import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('monday/create-item', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-item' }))(
    '$name',
    ({ play }) => play(),
  );
});
