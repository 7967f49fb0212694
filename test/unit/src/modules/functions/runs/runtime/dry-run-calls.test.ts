import { describe, expect, it } from 'vitest';
import { Mask } from '#kernel/mask.ts';
import { createDryRun, type DryRunOrder } from '#modules/functions/runs/runtime/dry-run-calls.ts';
import type { HostCalls } from '#ports/sandbox.ts';

const own = { integrationKey: 'crm', connectionId: 'acme' };

/** Reads the connection that the call names, as the service does. */
const real: HostCalls = {
  getConnection: async (args) => {
    const { connectionId = 'acme' } = JSON.parse(args) as { connectionId?: string };
    const metadata = { stored: connectionId };
    return JSON.stringify({ connection_id: connectionId, provider_config_key: 'crm', metadata });
  },
};

function dryRun(order: Partial<DryRunOrder> = {}) {
  const whole = { functionType: 'sync', bundle: '', ...order } as const;
  const dry = createDryRun(real, own, whole, new Mask());
  const call = async (method: keyof HostCalls, args: object = {}): Promise<unknown> =>
    JSON.parse((await dry.calls[method]?.(JSON.stringify(args))) as string);
  return { call, result: () => dry.result() };
}

describe('a dry run of the service', () => {
  it('shows the metadata that the function wrote to itself alone', async () => {
    const { call, result } = dryRun();
    await call('updateMetadata', { metadata: { added: 1 } });
    const metadata = { stored: 'acme', added: 1 };
    expect(await call('getConnection')).toMatchObject({ metadata });
    expect(await call('getConnection', { connectionId: 'other' })).toMatchObject({
      metadata: { stored: 'other' },
    });
    await call('setMetadata', { metadata: { only: 2 } });
    expect(await call('getConnection', own)).toMatchObject({ metadata: { only: 2 } });
    expect(result()).toMatchObject({ metadata: { only: 2 }, checkpoint: null });
  });

  it('begins with the checkpoint of the request, and reports the last one', async () => {
    const { call, result } = dryRun({ checkpoint: { page: 1 } });
    expect(await call('getCheckpoint')).toEqual({ page: 1 });
    await call('saveCheckpoint', { checkpoint: { page: 2 } });
    expect(result()).toMatchObject({ checkpoint: { page: 2 } });
    expect(result()).not.toHaveProperty('metadata');
    await call('clearCheckpoint');
    expect(await call('getCheckpoint')).toBeNull();
  });
});
