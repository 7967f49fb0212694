import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('intercom/reply-to-conversation', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'reply-to-conversation' }))(
    '$name',
    ({ play }) => play(),
  );
});
