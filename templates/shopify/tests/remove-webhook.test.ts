import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('shopify/remove-webhook', () => {
  it.each(situations(import.meta.url, { kind: 'on-event', name: 'remove-webhook' }))(
    '$name',
    ({ play }) => play(),
  );
});
