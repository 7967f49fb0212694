import { replayRows } from './replay-rows.ts';
import { absent, changing, creating, K, KorC, row, type Names, type Row } from './row.ts';
import { webhookEndpointRows } from './webhook-endpoint-rows.ts';

const query = (values: Readonly<Record<string, string>>) => new URLSearchParams(values).toString();
const of = ({ shared, connection }: Names) => ({
  provider_config_key: shared,
  connection_id: connection,
});
const headersOf = ({ shared, connection }: Names) => ({
  'provider-config-key': shared,
  'connection-id': connection,
});
const connectionPath = (base: string) => (names: Names) => ({
  path: `${base}/${names.connection}?${query({ provider_config_key: names.shared })}`,
});
const metadata = (names: Names) => ({ body: { ...of(names), metadata: { plan: 'pro' } } });
const functionPath =
  (rest = '') =>
  ({ shared, sync }: Names) => ({
    path: `/integrations/${shared}/functions/${sync}${rest}?type=sync`,
  });
const proxied = (names: Names) => ({ path: '/proxy/contacts', headers: headersOf(names) });
const noId = '00000000-0000-4000-8000-000000000000';
const wholeEnvironment = { reconciliationScope: { kind: 'environment' }, functions: [] };

/** Integrations, connections and what is called in their name. */
const connectionRows: readonly Row[] = [
  row('GET /providers', KorC(''), 200),
  row('GET /providers/{provider}', KorC(''), 200, () => ({ path: '/providers/crm' })),
  row('GET /providers/{provider}/templates', K(''), 200, () => ({
    path: '/providers/hubspot/templates',
  })),
  row('GET /providers/{provider}/templates/{name}', K(''), 200, () => ({
    path: '/providers/hubspot/templates/create-contact',
  })),
  row('GET /integrations', KorC('integrations:list|integrations:list_credentials'), 200),
  creating('POST /integrations', K('integrations:create'), 400, ({ integration }) => ({
    body: { provider: 'crm-open', unique_key: integration },
  })),
  row(
    'GET /integrations/{uniqueKey}',
    K('integrations:read|integrations:read_credentials'),
    200,
    ({ integration }) => ({ path: `/integrations/${integration}?include=credentials` }),
  ),
  row('PATCH /integrations/{uniqueKey}', K('integrations:update'), 200, ({ integration }) => ({
    path: `/integrations/${integration}`,
    body: { display_name: 'Named again' },
  })),
  changing('DELETE /integrations/{uniqueKey}', K('integrations:delete'), 404, (names) => ({
    path: `/integrations/${names.integration}`,
  })),
  row('GET /connections', K('connections:list|connections:list_credentials'), 200),
  creating('POST /connections', K('connections:create'), 201, (names) => ({
    body: {
      ...of(names),
      connection_config: { account: names.connection },
      credentials: { type: 'API_KEY', apiKey: names.apiKey },
    },
  })),
  row(
    'GET /connections/{connectionId}',
    K('connections:read|connections:read_credentials'),
    200,
    connectionPath('/connections'),
  ),
  row('PATCH /connections/{connectionId}', K('connections:update'), 200, (names) => ({
    ...connectionPath('/connections')(names),
    body: { tags: { team: 'x' } },
  })),
  changing(
    'DELETE /connections/{connectionId}',
    K('connections:delete'),
    400,
    connectionPath('/connections'),
  ),
  row('POST /connections/export', K('connections:read_credentials'), 400, () => ({ body: {} })),
  row('POST /connections/metadata', K('connections:update'), 201, metadata),
  row('PATCH /connections/metadata', K('connections:update'), 200, metadata),
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    row(`${method} /proxy/{path}`, K('proxy'), 200, proxied),
  ),
];

/** The deprecated family (docs/reference/http.md#deprecated-paths). */
const oldConnectionRows: readonly Row[] = [
  row('GET /connection', K('connections:list|connections:list_credentials'), 200),
  row(
    'GET /connection/{connectionId}',
    K('connections:read|connections:read_credentials'),
    200,
    connectionPath('/connection'),
  ),
  changing(
    'DELETE /connection/{connectionId}',
    K('connections:delete'),
    400,
    connectionPath('/connection'),
  ),
  row('POST /connection/metadata', K('connections:update'), 201, metadata),
  row('PATCH /connection/metadata', K('connections:update'), 200, metadata),
  row('POST /connection', K('connections:create'), 410),
  ...['POST', 'PATCH'].map((method) =>
    row(
      `${method} /connection/{connectionId}/metadata`,
      K('connections:update'),
      410,
      ({ connection }) => ({ path: `/connection/${connection}/metadata` }),
    ),
  ),
];

const recordRows: readonly Row[] = [
  row('GET /records', K('records:read'), 200, (names) => ({
    path: '/records?model=Contact',
    headers: headersOf(names),
  })),
  row('GET /records/history', K('records:read'), 200, (names) => ({
    path: `/records/history?${query({ model: 'Contact', id: 'c-1' })}`,
    headers: headersOf(names),
  })),
  row('PATCH /records/prune', K('records:write'), 200, (names) => ({
    headers: headersOf(names),
    body: { model: 'Contact', until_cursor: names.cursor, limit: 1 },
  })),
  row('GET /changes', K('changes:read'), 200, (names) => ({
    path: `/changes?${query(of(names))}`,
  })),
  row('GET /sql/views', K('sql:read'), 200),
  row('GET /sql/queries', K('sql:read'), 200),
  row('GET /sql/queries/{name}', K('sql:read'), 404, () => ({ path: '/sql/queries/none' })),
  creating('PUT /sql/queries/{name}', K('sql:write'), 200, (names) => ({
    path: `/sql/queries/of-${names.connection}`,
    body: { query: 'SELECT 1' },
  })),
  changing('DELETE /sql/queries/{name}', K('sql:write'), 404, () => ({
    path: '/sql/queries/none',
  })),
  row('POST /sql', K('sql:read'), 200, () => ({ path: '/sql', body: { query: 'SELECT 1' } })),
  row('GET /subscriptions', K('subscriptions:read'), 200),
  row('GET /subscriptions/{name}', K('subscriptions:read'), 404, () => ({
    path: '/subscriptions/none',
  })),
  ...['changes', 'parked'].map((noun) =>
    row(`GET /subscriptions/{name}/${noun}`, K('subscriptions:consume'), 404, () => ({
      path: `/subscriptions/none/${noun}`,
    })),
  ),
  creating('PUT /subscriptions/{name}', K('subscriptions:write'), 200, (names) => ({
    path: `/subscriptions/of-${names.connection}`,
    body: of(names),
  })),
  changing('DELETE /subscriptions/{name}', K('subscriptions:write'), 404, () => ({
    path: '/subscriptions/none',
  })),
  changing('POST /subscriptions/{name}/seek', K('subscriptions:write'), 404, () => ({
    path: '/subscriptions/none/seek',
    body: { from: 'start' },
  })),
  changing('POST /subscriptions/{name}/commit', K('subscriptions:consume'), 404, () => ({
    path: '/subscriptions/none/commit',
    body: { cursor: 'none' },
  })),
  changing('POST /subscriptions/{name}/parked', K('subscriptions:consume'), 404, () => ({
    path: '/subscriptions/none/parked',
    body: { place: '0-0', reason: 'none' },
  })),
  changing(
    'POST /subscriptions/{name}/parked/{place}/replay',
    K('subscriptions:consume'),
    404,
    () => ({
      path: '/subscriptions/none/parked/0-0/replay',
    }),
  ),
  changing('DELETE /subscriptions/{name}/parked/{place}', K('subscriptions:consume'), 404, () => ({
    path: '/subscriptions/none/parked/0-0',
  })),
  row('GET /typed-topics', K('typed_topics:read'), 200),
  ...['PUT', 'DELETE'].map((method) =>
    changing(
      `${method} /typed-topics/{integration}/{model}`,
      K('typed_topics:write'),
      404,
      ({ integration }) => ({
        path: `/typed-topics/${integration}/Contact`,
      }),
    ),
  ),
];

const functionRows: readonly Row[] = [
  absent('GET /integrations/{uniqueKey}/templates', K('')),
  row('GET /integrations/{uniqueKey}/functions', K('functions:list'), 200, ({ shared }) => ({
    path: `/integrations/${shared}/functions`,
  })),
  row('GET /integrations/{uniqueKey}/functions/{name}', K('functions:read'), 200, functionPath()),
  row(
    'DELETE /integrations/{uniqueKey}/functions/{name}',
    K('functions:delete'),
    400,
    functionPath(),
  ),
  row(
    'GET /integrations/{uniqueKey}/functions/{name}/code',
    K('functions:read'),
    200,
    functionPath('/code'),
  ),
  row('GET /scripts/config', K('integrations:list_functions'), 200),
  row('POST /functions/compile', K('functions:compile'), 400, () => ({ body: {} })),
  changing('POST /functions/dryruns', K('functions:dryrun'), 404, (names) => ({
    body: {
      integration_id: names.shared,
      connection_id: 'none',
      function_type: 'action',
      code: 'export default 1',
    },
  })),
  changing('POST /functions/deployments', K('deploy'), 404, ({ integration }) => ({
    body: {
      type: 'function',
      integration_id: integration,
      function_name: 'late',
      function_type: 'action',
      code: 'export default 1',
    },
  })),
  row('GET /demo', K('deploy'), 200),
  creating('POST /demo', K('deploy'), 200, () => ({})),
  row('GET /functions/deployments/{id}', K('deploy'), 404, () => ({
    path: `/functions/deployments/${noId}`,
  })),
  row('POST /functions/deployments/bundle/preview', K('deploy'), 200, () => ({
    body: wholeEnvironment,
  })),
  changing('POST /functions/deployments/bundle', K('deploy'), 400, ({ integration }) => ({
    body: {
      reconciliationScope: { kind: 'integration', integrationId: integration },
      functions: [],
    },
  })),
];

const runRows: readonly Row[] = [
  ...['trigger', 'pause', 'start'].map((word) =>
    changing(`POST /sync/${word}`, K('syncs:execute'), 404, (names) => ({
      body: { ...of(names), syncs: [names.sync] },
    })),
  ),
  row('GET /statistics', K('logs:read'), 200),
  row('GET /runs', K('logs:read'), 200, (names) => ({ path: `/runs?${query(of(names))}` })),
  row('GET /runs/tail', K('logs:read'), 400, () => ({ path: '/runs/tail?nothing=1' })),
  row('GET /runs/{id}', K('logs:read'), 404, () => ({ path: '/runs/none' })),
  ...replayRows,
  row('GET /runs/{id}/input', K('actions:execute'), 404, () => ({ path: '/runs/none/input' })),
  changing('POST /runs/{id}/cancel', K('syncs:execute|actions:execute'), 404, () => ({
    path: '/runs/none/cancel',
  })),
  changing('POST /runs/{id}/revert', K('records:write'), 404, () => ({
    path: '/runs/none/revert',
    body: { dry_run: true },
  })),
  row('GET /sync/status', K('syncs:read'), 200, (names) => ({
    path: `/sync/status?${query({ ...of(names), syncs: names.sync })}`,
  })),
  row('PUT /sync/update-connection-frequency', K('syncs:update'), 200, (names) => ({
    body: { ...of(names), sync_name: names.sync, frequency: null },
  })),
  ...(
    [
      ['POST', 'create'],
      ['DELETE', 'delete'],
    ] as const
  ).map(([method, scope]) =>
    changing(
      `${method} /sync/{name}/variant/{variant}`,
      K(`syncs:variant:${scope}`),
      400,
      (names) => ({ path: `/sync/${names.sync}/variant/${names.variant}`, body: of(names) }),
    ),
  ),
  row('POST /action/trigger', K('actions:execute'), 200, (names) => ({
    headers: headersOf(names),
    body: { action_name: 'echo', input: 1 },
  })),
  row('GET /action/{id}', K('actions:execute'), 200, ({ action }) => ({
    path: `/action/${action}`,
  })),
  row('POST /mcp', K('mcp'), 200, (names) => ({
    headers: headersOf(names),
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })),
  row('GET /mcp', K('mcp'), 405),
  row('POST /mcp/management', K('mcp'), 200, () => ({
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'table', version: '1.0.0' },
      },
    },
  })),
  row('GET /mcp/management', K('mcp'), 405),
];

const settingRows: readonly Row[] = [
  row('GET /environment-variables', K('variables:read'), 200),
  creating('PUT /environment-variables/{name}', K('variables:write'), 200, ({ variable }) => ({
    path: `/environment-variables/${variable}`,
    body: { value: 'of whoever sends it' },
  })),
  changing('DELETE /environment-variables/{name}', K('variables:write'), 404, ({ variable }) => ({
    path: `/environment-variables/${variable}`,
  })),
  row('GET /environment/webhook-signing-key', K('webhook_signing_key:read'), 200),
  // Rotated once when the world was made: a second time within a day is a conflict.
  creating(
    'POST /environment/webhook-signing-key/rotate',
    K('webhook_signing_key:rotate'),
    409,
    () => ({}),
  ),
];

const nowhere = '0198c1a2-7d30-4000-8000-0000000000aa';

const alertRows: readonly Row[] = [
  row('GET /alerts', K('alerts:read'), 200),
  row('GET /alert-destinations', K('alerts:read'), 200),
  row('POST /alert-destinations', K('alerts:write'), 400, () => ({
    body: { type: 'email', target: 'not an address' },
  })),
  changing('PATCH /alert-destinations/{id}', K('alerts:write'), 404, () => ({
    path: `/alert-destinations/${nowhere}`,
    body: { enabled: false },
  })),
  changing('DELETE /alert-destinations/{id}', K('alerts:write'), 404, () => ({
    path: `/alert-destinations/${nowhere}`,
  })),
  changing('POST /alert-destinations/{id}/test', K('alerts:write'), 404, () => ({
    path: `/alert-destinations/${nowhere}/test`,
  })),
];

/** Webhooks both ways, besides their endpoints. */
const webhookRows: readonly Row[] = [
  row('GET /webhook-messages', K('webhooks:read'), 200, (names) => ({
    path: `/webhook-messages?${query({ connection_id: of(names).connection_id })}`,
  })),
  changing('GET /webhook-messages/{id}', K('webhooks:read'), 404, () => ({
    path: `/webhook-messages/${nowhere}`,
  })),
  changing('POST /webhook-messages/{id}/resend', K('webhooks:resend'), 404, () => ({
    path: `/webhook-messages/${nowhere}/resend`,
    body: {},
  })),
  row('POST /webhook-messages/recover', K('webhooks:resend'), 200, () => ({
    body: { since: '2026-01-01T00:00:00Z', dry_run: true },
  })),
  row('POST /webhook-messages/replay', K('webhooks:resend'), 200, () => ({
    body: { ids: [nowhere], dry_run: true },
  })),
  row('GET /webhook-deliveries', K('webhooks:read'), 200, (names) => ({
    path: `/webhook-deliveries?${query({ connection_id: of(names).connection_id })}`,
  })),
  changing('GET /webhook-deliveries/{id}', K('webhooks:read'), 404, () => ({
    path: `/webhook-deliveries/${nowhere}`,
  })),
  changing('POST /webhook-deliveries/{id}/process', K('webhooks:resend'), 404, () => ({
    path: `/webhook-deliveries/${nowhere}/process`,
  })),
];

/** A key that may not list connections names them. */
const logRows: readonly Row[] = [
  row('POST /logs/operations', K('logs:read'), 200, ({ connection }) => ({
    // Others are of whatever the key has asked of that connection before.
    body: { connections: [connection], types: ['sync'] },
  })),
  row('GET /logs/operations/{operationId}', K('logs:read'), 404, () => ({
    path: `/logs/operations/${nowhere}`,
  })),
  row('POST /logs/messages', K('logs:read'), 404, () => ({ body: { operationId: nowhere } })),
  // Otherwise it would not end.
  row('GET /logs/keep', K('logs:read'), 200),
  row('POST /logs/keep', K('logs:keep'), 404, () => ({
    body: { minutes: 1, functions: [{ integration_id: 'none', type: 'sync', name: 'none' }] },
  })),
  row('GET /logs/tail', K('logs:read'), 400, () => ({ path: '/logs/tail?nothing=1' })),
];

/** Otherwise it would not end. */
const streamRows: readonly Row[] = [
  row('GET /records/stream', K('records:read'), 400, () => ({ path: '/records/stream?nothing=1' })),
  row('GET /changes/stream', K('changes:read'), 400, () => ({ path: '/changes/stream?nothing=1' })),
];

/** Named by the contract, sections 1 and 12. */
const absentRows: readonly Row[] = [
  absent('POST /integrations/quickstart', K('integrations:create')),
  absent('POST /sync/deploy/confirmation', K('deploy')),
  absent('POST /sync/deploy', K('deploy')),
];

export const environmentRows: readonly Row[] = [
  ...connectionRows,
  ...oldConnectionRows,
  ...recordRows,
  ...functionRows,
  ...runRows,
  ...settingRows,
  ...alertRows,
  ...webhookEndpointRows,
  ...webhookRows,
  ...logRows,
  ...streamRows,
  ...absentRows,
];
