import { z } from 'zod';
import { webAddress } from '#http/fields.ts';
import { limits } from '#kernel/limits.ts';
import type { WantedTarget } from './handlers.ts';
import type { SubscriptionTarget } from './subscription.ts';

const targetFields = {
  payload: z
    .enum(['ids', 'records'])
    .default('records')
    .describe('`ids`: each change without its record.'),
  batch_size: z
    .int()
    .min(1)
    .max(limits.changeBatchMax)
    .default(100)
    .describe('Changes of a request, at most.'),
  retries: z
    .int()
    .min(0)
    .max(limits.changeRetriesMax)
    .default(4)
    .describe('Further requests after a refused one, before a change is parked.'),
};

export const targetShape = z
  .discriminatedUnion('type', [
    z
      .strictObject({
        type: z.literal('function').describe('An on-change function.'),
        provider_config_key: z.string(),
        name: z.string().describe('Name of the function.'),
      })
      .meta({ id: 'FunctionTarget' }),
    z
      .strictObject({
        type: z.literal('webhook').describe('An address.'),
        url: z.string().describe('The address without its path.'),
        ...targetFields,
      })
      .meta({ id: 'WebhookTarget' }),
  ])
  .meta({ id: 'SubscriptionTarget' });

export const wantedTarget = z
  .strictObject({
    type: z.literal('webhook').describe('An address.'),
    url: webAddress.describe('It gets signed requests, with changes in the order of each record.'),
    ...targetFields,
  })
  .meta({ id: 'SubscriptionTargetToSet' });

export function presentTarget(target: SubscriptionTarget): z.output<typeof targetShape> {
  if (target.type === 'function') {
    const { type, integrationKey, name: functionOf } = target;
    return { type, provider_config_key: integrationKey, name: functionOf };
  }
  const { type, shownUrl, payload, batchSize, retries } = target;
  return { type, url: shownUrl, payload, batch_size: batchSize, retries };
}

export function targetOf({
  batch_size: batchSize,
  ...wanted
}: z.output<typeof wantedTarget>): WantedTarget {
  return { ...wanted, batchSize };
}
