import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('hubspot check-access does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'on-event', name: 'check-access' });
  expect(run.failure).toBeNull();
});
