import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('trello/register-webhook', () => {
  it.each(situations(import.meta.url, { kind: 'on-event', name: 'register-webhook' }))(
    '$name',
    ({ play }) => play(),
  );
});
