import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('github create-issue does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'action', name: 'create-issue' });
  expect(run.failure).toBeNull();
  expect(run.output).toEqual(run.mocks.output);
});
