import { z } from 'zod';
import { connectionId, functionName, integrationKey, listOf } from '../../../http/fields.ts';

const kinds = z.enum(['sync', 'action', 'on-event', 'webhook', 'dryrun', 'revert']);
const statuses = z.enum([
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'interrupted',
]);

/** Parameters of a query that select runs; absent = any. */
export const runFilterFields = {
  kind: listOf(kinds).optional(),
  status: listOf(statuses).optional(),
  function: functionName.optional(),
  provider_config_key: integrationKey.optional(),
  connection_id: connectionId.optional(),
  variant: functionName.optional(),
};
