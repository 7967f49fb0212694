import type { Caller } from '#http/define-route.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';

/** The input of an event: the validated request and its outcome. */
export interface AuditedCall {
  readonly caller: Caller;
  readonly params: JsonObject;
  readonly query: JsonObject;
  readonly body: Json;
  /** Null if the request was refused. */
  readonly answer: Json | null;
}

export interface AuditRule {
  readonly action: string;
  /** Reads are frequent: those of the same caller within a minute become one event. */
  readonly isRead?: true;
  /** Null: this call is not audited. */
  readonly target: (call: AuditedCall) => string | null;
}

/** Reads by POST, and work that has its own log. */
const notAudited: readonly string[] = [
  'POST /logs/operations',
  'POST /logs/messages',
  'POST /sql',
  'POST /sync/trigger',
  'POST /sync/pause',
  'POST /sync/start',
  'POST /action/trigger',
  'POST /mcp',
  'POST /mcp/management',
  'PATCH /records/prune',
  'POST /functions/compile',
  'POST /functions/dryruns',
  'POST /runs/{id}/replays',
  'POST /connections/metadata',
  'PATCH /connections/metadata',
  'POST /connection/metadata',
  'PATCH /connection/metadata',
  'POST /subscriptions/{name}/commit',
  'POST /subscriptions/{name}/parked',
  'DELETE /subscriptions/{name}/parked/{place}',
];

const field = (from: Json | null, name: string): string => {
  const value = isJsonObject(from) ? from[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const dataOf = (answer: Json | null): Json | null =>
  isJsonObject(answer) ? (answer['data'] ?? null) : null;
/** The created object: its id or, if it was refused, its requested name. */
const made =
  (name: string) =>
  ({ answer, body }: AuditedCall): string =>
    [field(dataOf(answer), 'id'), field(body, name)].filter((part) => part !== '').join(' ');

const connection = ({ params, query }: AuditedCall): string =>
  `${field(query, 'provider_config_key')}/${field(params, 'connectionId')}`;
const may =
  (scope: string, target: AuditRule['target']): AuditRule['target'] =>
  (call) =>
    call.caller.has(`environment:${scope}`) ? target(call) : null;

/** A list is no read of credentials when the caller wants it without them. */
const listed: AuditRule['target'] = ({ query }) => (query['credentials'] === 'none' ? null : '*');

const readsConnection: AuditRule = {
  action: 'connection.read_credentials',
  isRead: true,
  target: may('connections:read_credentials', (call) =>
    call.query['credentials'] === 'masked' ? null : connection(call),
  ),
};
const listsConnections: AuditRule = {
  action: 'connection.list_credentials',
  isRead: true,
  target: may('connections:list_credentials', listed),
};
const deletesConnection: AuditRule = { action: 'connection.delete', target: connection };

/** Routes for which the general rule is not specific enough. */
const rules: Readonly<Record<string, AuditRule>> = {
  'GET /connections': listsConnections,
  'GET /connection': listsConnections,
  'GET /connections/{connectionId}': readsConnection,
  'GET /connection/{connectionId}': readsConnection,
  'DELETE /connections/{connectionId}': deletesConnection,
  'DELETE /connection/{connectionId}': deletesConnection,
  'GET /integrations': {
    action: 'integration.list_credentials',
    isRead: true,
    target: may('integrations:list_credentials', listed),
  },
  'GET /integrations/{uniqueKey}': {
    action: 'integration.read_credentials',
    isRead: true,
    target: may('integrations:read_credentials', ({ params, query }) =>
      /credentials|config/.test(JSON.stringify(query['include'] ?? ''))
        ? field(params, 'uniqueKey')
        : null,
    ),
  },
  'GET /environment-variables': {
    action: 'variable.read',
    isRead: true,
    target: () => '*',
  },
  'GET /topics/{name}/messages': {
    action: 'topic.read_messages',
    isRead: true,
    target: ({ params }) => field(params, 'name'),
  },
  'POST /environment/api-keys': { action: 'api_key.create', target: made('display_name') },
  'POST /environment/api-keys/{id}/reveal': {
    action: 'api_key.reveal',
    target: ({ params }) => field(params, 'id'),
  },
  'POST /environment/api-keys/{id}/rotate': {
    action: 'api_key.rotate',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /environment/api-keys/{id}/previous-secret': {
    action: 'api_key.end_previous_secret',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /environment/api-keys': {
    action: 'api_key.delete',
    target: ({ body }) => field(body, 'key_id'),
  },
  'POST /account/api-keys': { action: 'account_key.create', target: made('display_name') },
  'POST /account/api-keys/{id}/rotate': {
    action: 'account_key.rotate',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /account/api-keys/{id}/previous-secret': {
    action: 'account_key.end_previous_secret',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /account/api-keys': {
    action: 'account_key.delete',
    target: ({ body }) => field(body, 'key_id'),
  },
  'POST /environments/{environmentId}/exports': {
    action: 'environment.export',
    target: ({ params, answer }) =>
      `${field(params, 'environmentId')} ${field(dataOf(answer), 'key_id')}`.trimEnd(),
  },
  'POST /connections/export': { action: 'connection.export', target: () => '*' },
  'POST /environments': { action: 'environment.create', target: made('name') },
  'GET /environment/webhook-signing-key': {
    action: 'webhook_signing_key.read',
    isRead: true,
    target: ({ caller }) => caller.environmentUid,
  },
  'POST /environment/webhook-signing-key/rotate': {
    action: 'webhook_signing_key.rotate',
    target: ({ caller }) => caller.environmentUid,
  },
  'GET /webhook-endpoints/{id}/signing-key': {
    action: 'webhook_signing_key.read',
    isRead: true,
    target: ({ params }) => field(params, 'id'),
  },
  'POST /webhook-endpoints/{id}/signing-key/rotate': {
    action: 'webhook_signing_key.rotate',
    target: ({ params }) => field(params, 'id'),
  },
  'POST /console/codes': { action: 'console_code.create', target: ({ caller }) => caller.keyId },
  'POST /people': { action: 'person.invite', target: made('display_name') },
  'PATCH /people/{id}': { action: 'person.change', target: ({ params }) => field(params, 'id') },
  'POST /people/{id}/sign-in-links': {
    action: 'person.create_sign_in_link',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /people/{id}/sessions': {
    action: 'person.end_sessions',
    target: ({ params }) => field(params, 'id'),
  },
  'DELETE /account/sessions/{id}': {
    action: 'console_session.end',
    target: ({ params }) => field(params, 'id'),
  },
  'PUT /sql/queries/{name}': {
    action: 'saved_query.save',
    target: ({ params }) => field(params, 'name'),
  },
  'DELETE /sql/queries/{name}': {
    action: 'saved_query.delete',
    target: ({ params }) => field(params, 'name'),
  },
  'POST /root-keys/rewrap': { action: 'root_key.rewrap', target: () => '*' },
  'POST /demo': { action: 'demo.set_up', target: () => '*' },
  'POST /functions/deployments/bundle': { action: 'function.deploy', target: () => '*' },
};

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'set',
  PATCH: 'update',
  DELETE: 'delete',
};

/**
 * How calls of the route are audited; null = they are not. Every route that changes something with a key is audited
 * unless it is excluded above, so that new routes are audited by default.
 */
export function auditRule(route: {
  readonly method: string;
  readonly path: string;
  readonly credential: string;
}): AuditRule | null {
  const name = `${route.method} ${route.path}`;
  const existing = rules[name];
  if (existing !== undefined) return existing;
  const isKeyed = ['environment', 'account', 'key'].includes(route.credential);
  if (!isKeyed || route.method === 'GET' || notAudited.includes(name)) return null;
  return { action: actionOf(route.method, route.path), target: named };
}

/**
 * How a call of the route by an agent is audited: always, so that the trail names the agent. What has no rule of its own
 * is named by its endpoint.
 */
export function agentAuditRule(
  route: { readonly method: string; readonly path: string; readonly credential: string },
  isWrite: boolean,
): AuditRule {
  const existing = isWrite ? auditRule(route) : null;
  if (existing !== null) return existing;
  const target: AuditRule['target'] = ({ params, query, body }) => {
    const ids = ['provider_config_key', 'integration_id', 'connection_id', 'action_name'];
    const named = ids.map((id) => field(query, id) || field(body, id));
    const names = [...Object.keys(params).map((name) => field(params, name)), ...named];
    return [`${route.method} ${route.path}`, ...names.filter((name) => name !== '')].join(' ');
  };
  return { action: 'mcp.call', target, ...(isWrite ? {} : { isRead: true }) };
}

/** `POST /projections/{name}/rebuild` is `projections.rebuild`, `PATCH /integrations/{uniqueKey}` `integrations.update`. */
function actionOf(method: string, path: string): string {
  const words = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  const [noun = '', ...more] = words;
  return [noun, ...(more.length === 0 ? [verbs[method] ?? ''] : more)].join('.');
}

/** The names in the path and in the query, otherwise the created object. */
function named(call: AuditedCall): string {
  const values = [...Object.values(call.params), ...Object.values(call.query)];
  const names = values.filter((part): part is string => typeof part === 'string');
  if (names.length > 0) return names.join('/');
  const ids = ['id', 'unique_key', 'connection_id', 'name', 'display_name'];
  const found = ids.map((id) => field(call.body, id) || field(dataOf(call.answer), id));
  return found.find((id) => id !== '') ?? '*';
}
