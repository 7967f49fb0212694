import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('freshdesk/create-ticket', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-ticket' }))(
    '$name',
    ({ play }) => play(),
  );
});
