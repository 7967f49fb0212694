import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('sentry/update-issue', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'update-issue' }))(
    '$name',
    ({ play }) => play(),
  );
});
