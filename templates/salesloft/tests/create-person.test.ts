import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('salesloft/create-person', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-person' }))(
    '$name',
    ({ play }) => play(),
  );
});
