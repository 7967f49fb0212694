import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import type { Debounce } from '#modules/functions/functions/function.ts';
import {
  webhookBatch,
  type BatchRun,
  type WebhookBatch,
  type WebhookBatchCommand,
} from '#modules/functions/webhook-batches/webhook-batch.ts';

const t0 = Date.UTC(2026, 0, 1);
const all: Debounce = { waitMs: 1_000, maxWaitMs: 5_000, payload: 'all' };
const last: Debounce = { ...all, payload: 'last' };
const run = (runId: string): BatchRun => ({
  runId,
  kind: 'webhook',
  environmentUid: 'env',
  integrationKey: 'crm',
  connectionId: 'acme',
  connectionUid: 'uid-1',
  name: 'contacts',
  functionVersion: '1',
  models: ['Contact'],
  isAsync: true,
  depth: 0,
  retriesLeft: 0,
});
const join = (runId: string, at: number, debounce = all, bytes = 10): WebhookBatchCommand => ({
  type: 'Join',
  run: run(runId),
  input: { runId, place: { partition: 0, offset: 1 } },
  bytes,
  debounce,
  at: t0 + at,
});

/** The batch after the commands, and the ones that were closed before it. */
function after(...commands: readonly WebhookBatchCommand[]) {
  let state: WebhookBatch | null = null;
  const closed: WebhookBatch[] = [];
  for (const command of commands) {
    for (const event of webhookBatch.decide(command, state)) {
      if (event.type === 'BatchClosed' && state !== null) closed.push(state);
      state = webhookBatch.evolve(state, event);
    }
  }
  return { open: state, closed };
}
const idsOf = (batch: WebhookBatch | null) => batch?.inputs.map(({ runId }) => runId);

describe('a batch of webhooks', () => {
  it('waits for the next one, and at most as long as its first may wait', () => {
    expect(after(join('a', 0)).open?.dueAt).toBe(t0 + 1_000);
    expect(after(join('a', 0), join('b', 900)).open?.dueAt).toBe(t0 + 1_900);
    expect(after(join('a', 0), join('b', 4_500)).open?.dueAt).toBe(t0 + 5_000);
  });

  it('is closed when it is due, with all webhooks or the newest', () => {
    const tick = (at: number): WebhookBatchCommand => ({ type: 'Tick', at: t0 + at });
    const { open, closed } = after(join('a', 0), join('b', 500), tick(1_499), tick(1_500));
    expect(open).toBeNull();
    expect(closed).toMatchObject([{ webhooks: 2, run: { runId: 'a' } }]);
    expect(idsOf(closed[0] ?? null)).toEqual(['a', 'b']);
    const { closed: newest } = after(join('a', 0, last), join('b', 500, last), tick(1_500));
    expect(newest).toMatchObject([{ webhooks: 2, run: { runId: 'a' } }]);
    expect(idsOf(newest[0] ?? null)).toEqual(['b']);
  });

  it('takes a webhook once', () => {
    expect(after(join('a', 0), join('a', 10)).open).toMatchObject({ webhooks: 1 });
  });

  it('is closed before one more when it is full, or the payload is another', () => {
    const many = Array.from({ length: limits.webhookBatchMax + 1 }, (_, n) => join(String(n), n));
    const { open, closed } = after(...many);
    expect(closed).toMatchObject([{ webhooks: limits.webhookBatchMax }]);
    expect(idsOf(open)).toEqual([String(limits.webhookBatchMax)]);
    const large = after(join('a', 0, all, limits.webhookBatchBytesMax), join('b', 1));
    expect(large).toMatchObject({ open: { webhooks: 1 }, closed: [{ webhooks: 1 }] });
    const other = after(join('a', 0), join('b', 1, last));
    expect(other).toMatchObject({ open: { webhooks: 1 }, closed: [{ webhooks: 1 }] });
  });
});
