import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

const typedTopicShape = z
  .strictObject({
    provider_config_key: z.string(),
    model: z.string(),
    topic: z.string(),
    subject: z.string().describe('Subject of its schema in the registry.'),
    enabled_at: timestamp.describe('Time from which it is written (RFC 3339).'),
  })
  .meta({
    id: 'TypedTopic',
    examples: [
      {
        provider_config_key: 'crm-prod',
        model: 'Contact',
        topic: 'svc.cdc.dev.crm-prod.Contact.v1',
        subject: 'svc.cdc.dev.crm-prod.Contact.v1-value',
        enabled_at: '2026-02-01T08:00:00.000Z',
      },
    ],
  });

export const oneTypedTopicShape = data(typedTopicShape);
export const typedTopicsShape = data(z.array(typedTopicShape));
