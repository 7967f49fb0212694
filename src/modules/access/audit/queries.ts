import type { ControlPlane, ControlView } from '#control-plane/control-plane.ts';
import type { Micros } from '#kernel/time.ts';
import { tableOf } from '#streams/projector/active-generation.ts';
import { micros, timestamp, where } from '#tables/where.ts';
import { accountKeyEntity, apiKeyEntity } from '../api-keys/entity.ts';
import { environmentRef } from '../environments/entity.ts';
import { personRef } from '../people/entity.ts';
import type { EntityQueries } from '../services.ts';
import { auditChainEntity } from './entity.ts';
import { audit } from './projection.ts';

/** A row of the table; 64-bit numbers are strings. */
export interface AuditRow {
  readonly environment_id: string;
  readonly seq: string;
  /** µs. */
  readonly happened: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
  readonly ip_prefix: string | null;
  readonly details: string | null;
  readonly chain_hash: string;
}

const columns = `environment_id, seq, ${micros('occurred_at')} AS happened, actor, action, target,
  outcome, ip_prefix, details, chain_hash`;
const heavy = 'heavy';

export interface AuditFilter {
  readonly environment?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly outcome?: string | undefined;
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
}

/** The position of the last event of a page. */
export interface AuditPlace {
  readonly at: Micros;
  readonly environment: string;
  readonly seq: number;
}

/** Newest first. @throws GatewayError `projection_unavailable` */
export async function findEvents(
  { control, tables }: EntityQueries,
  filter: AuditFilter,
  { before, limit }: { readonly before: AuditPlace | null; readonly limit: number },
): Promise<AuditRow[]> {
  const { sql, params } = where({
    'environment_id = {environment:String}': filter.environment,
    'actor = {actor:String}': filter.actor,
    'action = {action:String}': filter.action,
    'target = {target:String}': filter.target,
    'outcome = {outcome:String}': filter.outcome,
    [`occurred_at >= ${timestamp('from')}`]: filter.from,
    [`occurred_at <= ${timestamp('to')}`]: filter.to,
    [`(occurred_at, environment_id, seq) < (${timestamp('at')}, {chain:String}, {seq:UInt64})`]:
      before && { at: before.at, chain: before.environment, seq: before.seq },
  });
  return tables.queryRows<AuditRow>(
    `SELECT ${columns} FROM ${tableOf(control.view, audit)} WHERE ${sql}
     ORDER BY occurred_at DESC, environment_id DESC, seq DESC
     LIMIT 1 BY log_partition, log_offset LIMIT {limit:UInt32}`,
    { ...params, limit },
    heavy,
  );
}

/**
 * The events of a chain from the position, in order.
 * @throws GatewayError `projection_unavailable`
 */
export async function chainFrom(
  { control, tables }: EntityQueries,
  environment: string,
  seq: number,
  limit: number,
): Promise<AuditRow[]> {
  return tables.queryRows<AuditRow>(
    `SELECT ${columns} FROM ${tableOf(control.view, audit)}
     WHERE environment_id = {environment:String} AND seq >= {seq:UInt64}
     ORDER BY environment_id, seq LIMIT 1 BY log_partition, log_offset LIMIT {limit:UInt32}`,
    { environment, seq, limit },
    heavy,
  );
}

/** Names actors: people by name and address, keys by name; null: it is gone, or the actor is none of them. */
export function actorNames({ view }: Pick<ControlPlane, 'view'>): (actor: string) => string | null {
  const keys = new Map<string, string>();
  for (const kind of [accountKeyEntity, apiKeyEntity]) {
    for (const { state } of view.list(kind, [])) keys.set(`key:${state.id}`, state.displayName);
  }
  return (actor) => {
    const key = keys.get(actor);
    if (key !== undefined) return key;
    const person = actor.startsWith(personActor)
      ? view.find(personRef(actor.slice(personActor.length)))
      : null;
    return person === null ? null : `${person.displayName} <${person.email}>`;
  };
}

const personActor = 'user:';

/** The end of each chain, as its owner keeps it. */
export function chainsOf(view: ControlView) {
  return view.list(auditChainEntity, []).map(({ ref, state }) => {
    const [environment = ''] = ref.path;
    const { name = null } = view.find(environmentRef(environment)) ?? {};
    return { environment, name, length: state.length, hash: state.hash };
  });
}
