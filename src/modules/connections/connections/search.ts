import type { ViewQuery } from '#control-plane/control-plane.ts';
import type { SearchTable } from '#control-plane/entity.ts';
import type { Connection } from './state.ts';

/** The filter of `GET /connections` (docs/reference/http.md#connections). All given conditions must hold. */
export interface ConnectionQuery {
  readonly environmentUid: string;
  readonly connectionId?: string | undefined;
  /** Any of which may match. */
  readonly connectionIds?: readonly string[] | undefined;
  /** Part of the connection id, the end user's name or e-mail; case does not matter. */
  readonly search?: string | undefined;
  readonly endUserId?: string | undefined;
  readonly endUserOrganizationId?: string | undefined;
  /** Integration keys, any of which may match. */
  readonly integrationKeys?: readonly string[] | undefined;
  /** All must match. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Only those with an error of the type, or of any; or those without errors. */
  readonly errors?: 'auth' | 'sync' | 'any' | 'none' | undefined;
  /** Default 10,000. */
  readonly limit?: number | undefined;
  /** Only those after this one in the order of the list. */
  readonly after?: ConnectionPosition | undefined;
  /** From 0. */
  readonly page?: number | undefined;
}

/** Where a connection stands in the order of the list, which no change of the connection moves. */
export interface ConnectionPosition {
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  readonly id: number;
}

/** Connections of a page without `limit`. */
export const connectionsLimitDefault = 10_000;

/** The SQL of a page of connections over the view's side table, with its values in order. */
export function connectionSearch(query: ConnectionQuery): ViewQuery {
  const conditions = ['c.environment_uid = ?'];
  const values: (string | number)[] = [query.environmentUid];
  const add = (condition: string, ...with_: readonly (string | number)[]): void => {
    conditions.push(condition);
    values.push(...with_);
  };
  const { connectionId, search, endUserId, endUserOrganizationId, integrationKeys, tags } = query;
  const { environmentUid, errors, after, connectionIds } = query;
  if (connectionId !== undefined) add('c.connection_id = ?', connectionId);
  if (connectionIds !== undefined) {
    const marks = connectionIds.map(() => '?').join(', ');
    add(`c.connection_id IN (${marks})`, ...connectionIds);
  }
  const text = search?.toLowerCase();
  if (text !== undefined) add('instr(c.search, ?) > 0', text);
  if (endUserId !== undefined) add('c.end_user_id = ?', endUserId);
  if (endUserOrganizationId !== undefined) add('c.organization_id = ?', endUserOrganizationId);
  if (integrationKeys !== undefined) {
    const marks = integrationKeys.map(() => '?').join(', ');
    // The rows of several keys would have to be sorted: they are selected in the order of the list (`+`).
    const isOne = integrationKeys.length === 1;
    add(`${isOne ? '' : '+'}c.integration_key IN (${marks})`, ...integrationKeys);
  }
  if (errors === 'any') add("c.errors != ''");
  else if (errors === 'none') add("c.errors = ''");
  else if (errors !== undefined) add("c.errors != '' AND instr(c.errors, ?) > 0", errors);
  for (const [key, value] of Object.entries(tags ?? {})) {
    const holds = 'SELECT 1 FROM json_each(c.tags) AS tag WHERE tag.key = ? AND tag.value = ?';
    add(`EXISTS (${holds})`, key.toLowerCase(), value);
  }
  if (after !== undefined) add('(c.created_at, c.id) < (?, ?)', after.createdAt, after.id);
  const limit = query.limit ?? connectionsLimitDefault;
  const offset = limit * (query.page ?? 0);
  const select = (index: string, where: readonly string[]): string =>
    `SELECT e.key, e.scope, e.state FROM connections AS c ${index} JOIN entities AS e ON e.key = c.key
     WHERE ${where.join(' AND ')} ORDER BY c.created_at DESC, c.id DESC`;
  if (text === undefined) {
    const sql = `${select('', conditions)} LIMIT ? OFFSET ?`;
    return { sql, values: [...values, limit, offset] };
  }
  const sql = select('INDEXED BY connections_position', ['c.position = ?', ...conditions]);
  const upTo = after === undefined ? lastPosition : positionOf(after);
  return {
    sql,
    values,
    containing: { environmentUid, text, upTo, limit, offset },
  };
}

/** The SQL of a number of connections of an environment. */
export const connectionTotal = {
  all: 'SELECT total FROM connections_total WHERE environment_uid = ?',
  failing: "SELECT count(*) AS total FROM connections WHERE environment_uid = ? AND errors != ''",
  ofIntegration:
    'SELECT count(*) AS total FROM connections WHERE environment_uid = ? AND integration_key = ?',
} as const;

const lastPosition = 2n ** 63n - 1n;

/**
 * The place in the order of the list as one 64-bit number. Connections of one millisecond whose ids are close share it:
 * up to 64, and all of those with ids from 2^27.
 */
function positionOf({ createdAt, id }: ConnectionPosition): bigint {
  return (atMost(2n ** 42n - 1n, createdAt) << 21n) | atMost(2n ** 21n - 1n, id / 64);
}

const atMost = (max: bigint, value: number): bigint => {
  const whole = BigInt(Math.floor(value));
  return whole < max ? whole : max;
};

/** Names of the types, each once: empty of a connection without errors. */
const typesOf = (errors: Connection['errors']): string =>
  [...new Set(errors.map(({ type }) => type))].sort().join(' ');

/** Filters of `GET /connections`. */
export const connectionTable: SearchTable<Connection> = {
  name: 'connections',
  hasTexts: true,
  ddl: `
  CREATE TABLE connections (
    key TEXT PRIMARY KEY, environment_uid TEXT NOT NULL, integration_key TEXT NOT NULL,
    connection_id TEXT NOT NULL, created_at INTEGER NOT NULL, id INTEGER NOT NULL, position INTEGER NOT NULL,
    search TEXT NOT NULL, end_user_id TEXT, organization_id TEXT, tags TEXT NOT NULL, errors TEXT NOT NULL
  ) WITHOUT ROWID;
  -- The order of GET /connections.
  CREATE INDEX connections_order ON connections (environment_uid, created_at DESC, id DESC);
  CREATE INDEX connections_named ON connections (environment_uid, connection_id, created_at DESC, id DESC);
  CREATE INDEX connections_integration ON connections (environment_uid, integration_key, created_at DESC, id DESC);
  CREATE INDEX connections_end_user ON connections (environment_uid, end_user_id, created_at DESC, id DESC)
    WHERE end_user_id IS NOT NULL;
  CREATE INDEX connections_organization ON connections (environment_uid, organization_id, created_at DESC, id DESC)
    WHERE organization_id IS NOT NULL;
  CREATE INDEX connections_failing ON connections (environment_uid, created_at DESC, id DESC) WHERE errors != '';
  -- Counting the rows would take longer the more there are.
  CREATE TABLE connections_total (environment_uid TEXT PRIMARY KEY, total INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER connections_added AFTER INSERT ON connections BEGIN
    INSERT INTO connections_total VALUES (new.environment_uid, 1) ON CONFLICT DO UPDATE SET total = total + 1;
  END;
  CREATE TRIGGER connections_removed AFTER DELETE ON connections BEGIN
    UPDATE connections_total SET total = total - 1 WHERE environment_uid = old.environment_uid;
  END;
`,
  row({ environmentUid, integrationKey, connectionId, createdAt, id, endUser, tags, ...state }) {
    if (state.isDeleting) return null;
    const parts = [connectionId, endUser?.displayName ?? '', endUser?.email ?? ''];
    // A separator that no part can contain, so that a search never matches across two parts.
    const search = parts.join('\u0000').toLowerCase();
    const owners = [endUser?.id ?? null, endUser?.organization?.id ?? null];
    return [
      ...[environmentUid, integrationKey, connectionId, createdAt, id],
      ...[positionOf({ createdAt, id }), search],
      ...[...owners, JSON.stringify(tags), typesOf(state.errors)],
    ];
  },
};
