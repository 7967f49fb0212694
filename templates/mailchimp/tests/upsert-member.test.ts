import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('mailchimp/upsert-member', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'upsert-member' }))(
    '$name',
    ({ play }) => play(),
  );
});
