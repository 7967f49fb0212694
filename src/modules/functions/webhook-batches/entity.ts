import { commandTo, type EntityDefinition, type EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import type { ConnectionPath } from '#modules/connections/connections/entity.ts';
import { actionRunRef } from '../actions/entity.ts';
import {
  webhookBatch,
  type WebhookBatch,
  type WebhookBatchCommand,
  type WebhookBatchEvent,
} from './webhook-batch.ts';

export interface WebhookBatchEntity {
  readonly kind: 'webhook-batch';
  readonly state: WebhookBatch;
  readonly command: WebhookBatchCommand;
  readonly event: WebhookBatchEvent;
}

export const webhookBatchRef = (
  connection: ConnectionPath,
  sync: string,
): EntityRef<WebhookBatchEntity> => ({
  kind: 'webhook-batch',
  scope: joinKey(...connection),
  path: [...connection, sync],
});

/** The entity of webhooks that wait for a common run (`webhook-batch`). */
export const webhookBatchEntity: EntityDefinition<WebhookBatchEntity> = {
  kind: 'webhook-batch',
  decider: webhookBatch,
  dueAt: ({ dueAt }) => dueAt,
  publish: () => [],

  follow(event, before) {
    if (event.type !== 'BatchClosed' || before === null) return [];
    const { run, payload, inputs, webhooks } = before;
    const joined = { payload, inputs, webhooks };
    const body = { type: 'Queue', ...run, joined, input: null, inputHash: null } as const;
    return [commandTo(actionRunRef(run), body)];
  },
};
