import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { prefixed } from '../topics/prefix.ts';
import { topicOf } from './names.ts';
import type { TypedTopic } from './typed-topic.ts';

const shown = representation<TypedTopic & { readonly topic: string }>()({
  provider_config_key: [z.string(), ({ integrationKey }) => integrationKey],
  model: z.string(),
  topic: z.string(),
  subject: [
    z.string().describe('Subject of its schema in the registry.'),
    ({ topic }) => `${topic}-value`,
  ],
  enabled_at: [
    timestamp.describe('Time from which it is written (RFC 3339).'),
    ({ enabledAt }) => isoMillis(enabledAt),
  ],
});

export const presentTypedTopic = (typed: TypedTopic, prefix: string) =>
  shown.of({ ...typed, topic: prefixed(topicOf(typed.address, Math.max(typed.major, 1)), prefix) });

const typedTopicShape = shown.schema.meta({
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
