import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('hubspot remember-portal does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'on-event', name: 'remember-portal' });
  expect(run.failure).toBeNull();
});
