import { expect, it } from 'vitest';
import { replay } from 'svc/testing';

it('hubspot remember-portal does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'on-event', name: 'remember-portal' });
  expect(run.failure).toBeNull();
});
