import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bamboohr/update-time-off-status', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'update-time-off-status' }))(
    '$name',
    ({ play }) => play(),
  );
});
