import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('shopify/register-webhook', () => {
  it.each(situations(import.meta.url, { kind: 'on-event', name: 'register-webhook' }))(
    '$name',
    ({ play }) => play(),
  );
});
