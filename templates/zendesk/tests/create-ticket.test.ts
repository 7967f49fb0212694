import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('zendesk/create-ticket', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-ticket' }))(
    '$name',
    ({ play }) => play(),
  );
});
