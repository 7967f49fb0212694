import { changing, K, row, type Row } from './row.ts';

/** Dry runs, and replays of recorded runs. */
export const replayRows: readonly Row[] = [
  row(
    'PUT /integrations/{uniqueKey}/functions/{name}/recording',
    K('logs:keep'),
    400,
    ({ shared, sync }) => ({
      path: `/integrations/${shared}/functions/${sync}/recording?type=sync`,
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
