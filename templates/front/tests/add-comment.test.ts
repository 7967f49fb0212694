import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('front/add-comment', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'add-comment' }))(
    '$name',
    ({ play }) => play(),
  );
});
