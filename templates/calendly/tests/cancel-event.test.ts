import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('calendly/cancel-event', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'cancel-event' }))(
    '$name',
    ({ play }) => play(),
  );
});
