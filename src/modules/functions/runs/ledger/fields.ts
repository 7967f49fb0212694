import { z } from 'zod';
import { connectionId, functionName, integrationKey, listOf } from '#http/fields.ts';

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
  kind: listOf(kinds).optional().describe('Only runs of this kind; repeated for several.'),
  status: listOf(statuses).optional().describe('Only runs with this status; repeated for several.'),
  function: functionName.optional().describe('Only runs of the function with this name.'),
  provider_config_key: integrationKey.optional().describe('Only runs of this integration.'),
  connection_id: connectionId.optional().describe('Only runs of this connection.'),
  variant: functionName.optional().describe('Only runs of this variant.'),
};
