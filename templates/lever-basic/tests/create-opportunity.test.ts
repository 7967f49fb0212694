import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('lever-basic/create-opportunity', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-opportunity' }))(
    '$name',
    ({ play }) => play(),
  );
});
