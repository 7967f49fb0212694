import { describe, expect, it } from 'vitest';
import { uuidV5 } from '#kernel/ids.ts';
import { stableJson } from '#kernel/stable-json.ts';
import { quietStep, type RunChanged } from '#modules/functions/runs/ledger/events.ts';
import { asyncActionPayloads, syncPayloads } from '#modules/webhooks/webhooks-out/sync-webhook.ts';

const runId = '0b9c1a52-9d1e-4d5c-8f0e-2a6d5c3b1a00';
const at = Date.UTC(2026, 1, 1, 8) * 1000;
const flags = {
  onAuthCreation: true,
  onAuthRefreshError: true,
  onSyncError: true,
  onSyncCompletionAlways: true,
  onAsyncActionCompletion: true,
};
const end = (more: Partial<RunChanged> = {}): RunChanged => ({
  ...quietStep,
  event_id: 'e',
  type: 'svc.run.succeeded',
  occurred_at: at + 5_000_000,
  environment_id: 'env',
  integration: 'crm-prod',
  connection_id: 'acme-1',
  actor: 'system',
  run_id: runId,
  kind: 'sync',
  function: 'contacts',
  function_version: '1',
  action: 'succeeded',
  attempt: 1,
  connection_uid: 'uid',
  models: ['Contact', 'Deal'],
  started_at: at,
  log_id: runId,
  counts: [
    { model: 'Contact', added: 2, updated: 1, deleted: 0, unchanged: 7 },
    { model: 'Deal', added: 0, updated: 0, deleted: 0, unchanged: 3 },
  ],
  ...more,
});

describe('the webhooks of a sync', () => {
  it('are one per model on success, as the contract shows them', () => {
    const shown = end({ checkpoint_to: '{"page":5}', models: ['Contact'] });
    const [message] = syncPayloads(shown, flags, true);
    expect(message?.messageId).toBe(uuidV5(runId, 'Contact'));
    expect(stableJson(message?.payload ?? null)).toBe(
      '{"checkpoints":{"from":null,"to":{"page":5}},"connectionId":"acme-1","from":"svc","model":"Contact",' +
        '"modifiedAfter":"2026-02-01T08:00:00.000Z","providerConfigKey":"crm-prod",' +
        '"queryTimeStamp":"2026-02-01T08:00:00.000Z","responseResults":{"added":2,"deleted":0,"updated":1},' +
        '"success":true,"syncName":"contacts","syncType":"INCREMENTAL","syncVariant":"base","type":"sync"}',
    );
  });

  it('leave checkpoints out of a sync that has none', () => {
    const [message] = syncPayloads(end(), flags, false);
    expect(message?.payload).not.toHaveProperty('checkpoints');
  });

  it('say INITIAL of a first run', () => {
    expect(syncPayloads(end({ is_initial: true }), flags, false)[0]?.payload).toMatchObject({
      syncType: 'INITIAL',
    });
  });

  it('leave out models without changes when the environment says so', () => {
    const models = (given: typeof flags) =>
      syncPayloads(end(), given, false).map(({ payload }) => payload['model']);
    expect(models(flags)).toEqual(['Contact', 'Deal']);
    expect(models({ ...flags, onSyncCompletionAlways: false })).toEqual(['Contact']);
  });

  it('are one in all on failure', () => {
    const failed = end({ action: 'failed', error_code: 'x', error_message: 'no', counts: [] });
    const [message, ...more] = syncPayloads(failed, flags, false);
    expect(more).toEqual([]);
    expect(message?.payload).toEqual({
      type: 'sync',
      from: 'svc',
      connectionId: 'acme-1',
      providerConfigKey: 'crm-prod',
      syncName: 'contacts',
      syncVariant: 'base',
      syncType: 'INCREMENTAL',
      model: 'Contact,Deal',
      success: false,
      error: { type: 'script_error', description: 'no' },
      startedAt: '2026-02-01T08:00:00.000Z',
      failedAt: '2026-02-01T08:00:05.000Z',
    });
    expect(syncPayloads(failed, { ...flags, onSyncError: false }, false)).toEqual([]);
  });

  it('are none of a cancelled run', () => {
    expect(syncPayloads(end({ action: 'cancelled' }), flags, false)).toEqual([]);
  });
});

describe('the webhook of an asynchronous action', () => {
  it('says where the output is, success and failure alike', () => {
    const done = end({ kind: 'action', action: 'failed', trigger: 'async' });
    expect(asyncActionPayloads(done, flags)[0]?.payload).toEqual({
      type: 'async_action',
      from: 'svc',
      connectionId: 'acme-1',
      providerConfigKey: 'crm-prod',
      payload: { id: runId, statusUrl: `/action/${runId}` },
    });
    expect(asyncActionPayloads(done, { ...flags, onAsyncActionCompletion: false })).toEqual([]);
  });
});
