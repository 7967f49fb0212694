import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

const eventShape = z
  .strictObject({
    environment: z.string(),
    seq: z.int(),
    at: timestamp,
    actor: z.string().meta({ examples: ['key:0198c1a2-7d30-7000-8000-000000000001'] }),
    action: z.string().meta({ examples: ['api_key.create'] }),
    target: z.string(),
    outcome: z.string().meta({ examples: ['success'] }),
    ip_prefix: z.string().nullable(),
    details: z.looseObject({}).nullable(),
    chain_hash: z.string(),
  })
  .meta({ id: 'AuditEvent' });

export const eventsShape = z.strictObject({
  data: z.array(eventShape),
  next_cursor: z.string().nullable(),
});

export const chainsShape = data(
  z.array(
    z.strictObject({
      environment: z.string(),
      name: z.string().nullable(),
      length: z.int(),
      hash: z.string(),
    }),
  ),
);
