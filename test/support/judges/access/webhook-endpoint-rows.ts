import { changing, K, row, type Row } from './row.ts';

const nowhere = '0198c1a2-7d30-4000-8000-0000000000aa';

export const webhookEndpointRows: readonly Row[] = [
  row('GET /webhook-endpoints', K('webhook_endpoints:read'), 200),
  row('POST /webhook-endpoints', K('webhook_endpoints:write'), 400, () => ({
    body: { url: 'https://hooks.example', connection_id: 'of no integration' },
  })),
  changing('PATCH /webhook-endpoints/{id}', K('webhook_endpoints:write'), 404, () => ({
    path: `/webhook-endpoints/${nowhere}`,
    body: { enabled: false },
  })),
  changing('DELETE /webhook-endpoints/{id}', K('webhook_endpoints:write'), 404, () => ({
    path: `/webhook-endpoints/${nowhere}`,
  })),
  row('GET /webhook-endpoints/{id}/signing-key', K('webhook_signing_key:read'), 404, () => ({
    path: `/webhook-endpoints/${nowhere}/signing-key`,
  })),
  changing(
    'POST /webhook-endpoints/{id}/signing-key/rotate',
    K('webhook_signing_key:rotate'),
    404,
    () => ({ path: `/webhook-endpoints/${nowhere}/signing-key/rotate`, body: {} }),
  ),
  changing('POST /webhook-endpoints/{id}/test', K('webhook_endpoints:write'), 404, () => ({
    path: `/webhook-endpoints/${nowhere}/test`,
  })),
];
