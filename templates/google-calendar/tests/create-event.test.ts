import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('google-calendar/create-event', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-event' }))(
    '$name',
    ({ play }) => play(),
  );
});
