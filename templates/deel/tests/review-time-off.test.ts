import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('deel/review-time-off', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'review-time-off' }))(
    '$name',
    ({ play }) => play(),
  );
});
