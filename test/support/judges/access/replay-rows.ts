import { changing, K, row, type Row } from './row.ts';

/** Dry runs, replays of recorded runs, and runs that wait. */
export const replayRows: readonly Row[] = [
  row(
    'PUT /integrations/{uniqueKey}/functions/{name}/recording',
    K('logs:keep'),
    400,
    ({ shared, sync }) => ({
      path: `/integrations/${shared}/functions/${sync}/recording?type=sync`,
    }),
  ),
  row(
    'PUT /integrations/{uniqueKey}/functions/{name}/concurrency',
    K('deploy'),
    400,
    ({ shared, sync }) => ({
      path: `/integrations/${shared}/functions/${sync}/concurrency?type=sync`,
    }),
  ),
  row(
    'PUT /integrations/{uniqueKey}/functions/{name}/debounce',
    K('deploy'),
    400,
    ({ shared, sync }) => ({ path: `/integrations/${shared}/functions/${sync}/debounce` }),
  ),
  row(
    'GET /integrations/{uniqueKey}/functions/{name}/queue',
    K('logs:read'),
    200,
    ({ shared, sync }) => ({
      path: `/integrations/${shared}/functions/${sync}/queue?type=sync&connection_id=none`,
    }),
  ),
  changing('POST /runs/{id}/replays', K('functions:dryrun'), 404, () => ({
    path: '/runs/none/replays',
    body: {},
  })),
  row('GET /functions/dryruns/{id}', K('functions:dryrun'), 404, () => ({
    path: '/functions/dryruns/00000000-0000-4000-8000-000000000000',
  })),
];
