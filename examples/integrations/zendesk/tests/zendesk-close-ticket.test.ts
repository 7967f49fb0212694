import { expect, it } from 'vitest';
import { replay } from 'svc/testing';

it('zendesk close-ticket does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'action', name: 'close-ticket' });
  expect(run.failure).toBeNull();
  expect(run.output).toEqual(run.mocks.output);
});
