import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('zendesk close-ticket does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'action', name: 'close-ticket' });
  expect(run.failure).toBeNull();
  expect(run.output).toEqual(run.mocks.output);
});
