import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bamboohr/time-off-requests', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'time-off-requests' }))(
    '$name',
    ({ play }) => play(),
  );
});
