import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('close/remove-webhook', () => {
  it.each(situations(import.meta.url, { kind: 'on-event', name: 'remove-webhook' }))(
    '$name',
    ({ play }) => play(),
  );
});
