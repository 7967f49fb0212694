import { changing, K, row, type Row } from './row.ts';

/** Projections that projects deploy. */
export const projectionRows: readonly Row[] = [
  row('GET /custom-projections', K('sql:read|deploy'), 200),
  changing('PUT /custom-projections/{name}', K('deploy'), 400, () => ({
    path: '/custom-projections/none',
    body: {},
  })),
  changing('DELETE /custom-projections/{name}', K('deploy'), 404, () => ({
    path: '/custom-projections/none',
  })),
];
