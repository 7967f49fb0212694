import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const reset = (body: object) =>
  api.call('POST', '/consumer-groups/svc.runners/reset', { key: api.keys.account, body });

describe('a reset of a group that nobody works for', () => {
  it('leaves nothing out unless that is allowed, and waits for its next holder', async () => {
    const message = { key: 'a', value: Buffer.from('x'), headers: {} };
    await api.services.log.append([
      { topic: 'svc.runs.v1', partition: 2, messages: [message, message, message] },
    ]);
    const plan = await reset({ to: 'end', dry_run: true });
    expect(plan.at('data')).toMatchObject({ dry_run: true, replayed: 0, skipped: 3 });
    const refused = await reset({ to: 'end' });
    expect(codeOf(refused)).toBe('409 reset_skips_messages');
    expect(refused.at('error.message')).toContain('3 unprocessed messages');

    const made = await reset({ to: 'end', skip: true });
    expect(made.status).toBe(202);
    expect(made.at('data.partitions.2')).toEqual({
      partition: 2,
      from: 0,
      to: 3,
      replayed: 0,
      skipped: 3,
      state: 'waiting',
    });
    const key = api.keys.account;
    const shown = await api.call('GET', '/consumer-groups/svc.runners', { key });
    expect(shown.at('data.partitions.2')).toMatchObject({
      committed: null,
      lag: 3,
      reset: { to: 3, applied_at: null },
    });
  });

  it('asked for twice under one Idempotency-Key is one', async () => {
    const again = () =>
      api.call('POST', '/consumer-groups/svc.runners/reset', {
        key: api.keys.account,
        body: { to: { offset: 1 }, partitions: [2], skip: true },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = [await again(), await again()];
    expect(second.at('data.id')).toBe(first.at('data.id'));
  });
});
