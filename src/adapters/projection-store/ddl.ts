import type { TableDefinition, ViewDefinition } from '#ports/projection-store.ts';

/** How long a replicated table remembers tokens; their number is a setting of the table. */
const tokensKeptS = 7 * 86_400;

/**
 * The in-process engine deletes merged parts some time after the merge, without checking that the result is on
 * disk: after a minute the system has written it. It deletes them every second: at the default of 30 s these would
 * be some ten thousand files at a time, and on a disk with discard every insert and every append to the log would
 * wait for seconds. Replicated tables clean up together, through their keeper, and keep parts for minutes.
 */
const mergedParts = {
  old_parts_lifetime: 60,
  cleanup_delay_period: 1,
  cleanup_delay_period_random_add: 0,
  max_cleanup_delay_period: 1,
};

/**
 * The statement that creates a missing table or view: on this node, or with `cluster` on all its nodes, each a
 * replica. Path and replica of a replicated table are the server's defaults (`default_replica_path`).
 */
export function createStatement(
  definition: TableDefinition | ViewDefinition,
  cluster: string | null,
): string {
  const name = `${definition.name}${onCluster(cluster)}`;
  if ('select' in definition) {
    return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${definition.to} AS ${definition.select}`;
  }
  const { columns, partitionBy, orderBy, ttl } = definition;
  const settings = Object.entries(tableSettings(definition, cluster !== null));
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(', ')})`,
    `ENGINE = ${cluster === null ? '' : 'Replicated'}${definition.engine}`,
    ...(partitionBy === undefined ? [] : [`PARTITION BY ${partitionBy}`]),
    `ORDER BY (${orderBy.join(', ')})`,
    ...(ttl === undefined ? [] : [`TTL ${ttl}`]),
    `SETTINGS ${settings.map(([setting, value]) => `${setting} = ${value}`).join(', ')}`,
  ].join(' ');
}

/**
 * Removes a table or a view, so that its name is free again. In process the files follow later (`engineArgs`): waiting
 * for their removal never ends where a statement that failed on a damaged part still holds the table.
 */
export function dropStatement(
  name: string,
  { cluster, isInProcess }: { readonly cluster: string | null; readonly isInProcess: boolean },
): string {
  return `DROP TABLE IF EXISTS ${name}${onCluster(cluster)}${isInProcess ? '' : ' SYNC'}`;
}

function tableSettings(
  { settings, tokensKept }: TableDefinition,
  isReplicated: boolean,
): Record<string, number> {
  return {
    ...settings,
    // An acknowledged insert survives power loss.
    fsync_after_insert: 1,
    fsync_part_directory: 1,
    ...(isReplicated
      ? {
          replicated_deduplication_window: tokensKept,
          replicated_deduplication_window_seconds: tokensKeptS,
        }
      : { non_replicated_deduplication_window: tokensKept, ...mergedParts }),
  };
}

const onCluster = (cluster: string | null): string =>
  cluster === null ? '' : ` ON CLUSTER \`${cluster}\``;
