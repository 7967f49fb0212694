import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('github issues does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: 'sync', name: 'issues' });
  expect(run.failure).toBeNull();
  expect(run.batchSave).toEqual(run.mocks.svc.batchSave);
  expect(run.batchUpdate).toEqual(run.mocks.svc.batchUpdate);
  expect(run.batchDelete).toEqual(run.mocks.svc.batchDelete);
});
