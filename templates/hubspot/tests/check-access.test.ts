import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('hubspot/check-access', () => {
  it.each(situations(import.meta.url, { kind: 'on-event', name: 'check-access' }))(
    '$name',
    ({ play }) => play(),
  );
});
