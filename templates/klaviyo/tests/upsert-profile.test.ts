import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('klaviyo/upsert-profile', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'upsert-profile' }))(
    '$name',
    ({ play }) => play(),
  );
});
