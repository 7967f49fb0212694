import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';

const text = z.record(z.string(), z.string());

export const endUserShape = z
  .strictObject({
    id: z.string(),
    display_name: z.string().nullable(),
    email: z.string().nullable(),
    tags: text,
    organization: z
      .strictObject({ id: z.string(), display_name: z.string().nullable() })
      .nullable(),
  })
  .meta({ id: 'EndUser' });

const failures = z.array(z.strictObject({ type: z.enum(['auth', 'sync']), log_id: z.string() }));

/** By the mode of the provider; empty for a key without a credentials scope. */
const credentials = jsonObject.meta({
  description: 'By the mode of the provider; empty for a key without a credentials scope.',
});

/** A single connection (docs/reference/http.md#connections). */
export const connectionShape = z
  .strictObject({
    id: z.int(),
    connection_id: z.string(),
    provider_config_key: z.string(),
    provider: z.string(),
    errors: failures,
    end_user: endUserShape.nullable(),
    tags: text,
    metadata: jsonObject,
    connection_config: jsonObject,
    webhook_url_override: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    last_fetched_at: timestamp,
    credentials,
  })
  .meta({
    id: 'Connection',
    examples: [
      {
        id: 41,
        connection_id: 'acme-1',
        provider_config_key: 'crm-prod',
        provider: 'crm',
        errors: [],
        end_user: null,
        tags: { team: 'x' },
        metadata: {},
        connection_config: { subdomain: 'acme' },
        webhook_url_override: null,
        created_at: '2026-02-01T08:00:00.000+00:00',
        updated_at: '2026-02-01T08:00:00.000+00:00',
        last_fetched_at: '2026-02-02T08:00:00.000+00:00',
        credentials: { type: 'API_KEY', apiKey: '…' },
      },
    ],
  });

/** An entry of the list (docs/reference/http.md#connections). */
const entryShape = z
  .strictObject({
    id: z.int(),
    connection_id: z.string(),
    provider: z.string(),
    provider_config_key: z.string(),
    created: timestamp,
    metadata: jsonObject.nullable(),
    tags: text,
    errors: failures,
    end_user: endUserShape.optional(),
    credentials: credentials.optional(),
  })
  .meta({ id: 'ConnectionEntry' });

export const entriesShape = z.strictObject({ connections: z.array(entryShape) });
