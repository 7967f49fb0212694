import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('slack post-message does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'action', name: 'post-message' });
  expect(run.failure).toBeNull();
  expect(run.output).toEqual(run.mocks.output);
});
