import { GatewayError } from '#kernel/errors.ts';
import type { CallerViews, RowQueries } from '#ports/projection-store.ts';
import { engineCode } from './engine-errors.ts';
import { databaseStatement, onCluster } from './server.ts';

/** The database that the queries of a scope read: it has the views of the scope and nothing else. */
export function callerDatabase(database: string, scope: string): string {
  if (!/^\w+$/.test(scope)) throw new TypeError(`not a scope: ${scope}`);
  return `${prefixOf(database)}${scope}`;
}

/**
 * The statements that make the views, in place of those that were there. They read with the rights of their maker, so
 * that their readers need none on the tables.
 */
export function showStatements(
  database: string,
  { scope, version, views }: CallerViews,
  existing: readonly string[],
  cluster: string | null,
): readonly string[] {
  const readable = callerDatabase(database, scope);
  const gone = existing.filter((name) => !views.some((view) => view.name === name));
  return [
    databaseStatement(readable, cluster),
    ...views.map(
      ({ name, select }) =>
        `CREATE OR REPLACE VIEW \`${readable}\`.${name}${onCluster(cluster)} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS ${select} COMMENT '${version}'`,
    ),
    ...gone.map((name) => `DROP VIEW IF EXISTS \`${readable}\`.${name}${onCluster(cluster)}`),
  ];
}

export const dropDatabase = (database: string, scope: string, cluster: string | null): string =>
  `DROP DATABASE IF EXISTS \`${callerDatabase(database, scope)}\`${onCluster(cluster)}`;

/** Names of the views that the scope has. */
export async function shownNames(
  store: RowQueries,
  database: string,
  scope: string,
): Promise<readonly string[]> {
  const rows = await store.queryRows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {readable:String} AND engine = 'View'`,
    { readable: callerDatabase(database, scope) },
    'heavy',
  );
  return rows.map(({ name }) => name);
}

const prefixOf = (database: string): string => `${database}_sql_`;

/** By scope that has views: the versions of these. */
export async function shownVersions(
  store: RowQueries,
  database: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const prefix = prefixOf(database);
  const rows = await store.queryRows<{ database: string; comment: string }>(
    `SELECT database, comment FROM system.tables
     WHERE startsWith(database, {prefix:String}) AND engine = 'View'`,
    { prefix },
    'heavy',
  );
  const byScope = Map.groupBy(rows, (row) => row.database.slice(prefix.length));
  return new Map(
    [...byScope].map(([scope, found]) => [scope, new Set(found.map(({ comment }) => comment))]),
  );
}

const accessDenied = '497';

/** The user of a server set up for an earlier release may not make the database of views. */
export function refuseUngranted(error: unknown): never {
  if (error instanceof GatewayError && engineCode(error.cause) === accessDenied) {
    throw new GatewayError(
      'sql_failed',
      {
        message: 'The user of SVC_CLICKHOUSE_URL may not create the views that SQL reads.',
        fix: 'Run deploy/clickhouse/setup.sql on the server again.',
      },
      { cause: error },
    );
  }
  throw error;
}
