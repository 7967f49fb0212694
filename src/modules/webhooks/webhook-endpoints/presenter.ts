import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { webhookKinds } from '../webhooks-out/events.ts';

const endpointShape = z
  .strictObject({
    id: z.string(),
    display_name: z.string(),
    url: z.string(),
    kinds: z.array(z.enum(webhookKinds)).nullable(),
    provider_config_key: z.string().nullable(),
    connection_id: z.string().nullable(),
    enabled: z.boolean(),
    managed_by: z.enum(['environment', 'endpoint']),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });

export const oneEndpointShape = data(endpointShape);
export const endpointsShape = data(z.array(endpointShape));
