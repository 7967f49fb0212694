import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('linear/create-issue', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-issue' }))(
    '$name',
    ({ play }) => play(),
  );
});
