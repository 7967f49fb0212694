import { LRUCache } from 'lru-cache';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { EntityRef } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { plainText } from '#kernel/json-path.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import {
  connectionsOfIntegration,
  findConnection,
} from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { openConnectionConfig, openMetadata } from '#modules/connections/credentials/sealing.ts';

/** Number of indexes that a node caches. */
const indexesMax = 500;

/** Finds connections by sealed properties. */
export interface ConnectionFinder extends Disposable {
  /**
   * The connections of the integration whose property has the value: `connectionId`, `metadata.<key>` (equal to it, a
   * list with it, or an object with it as a key), or a value of the connection configuration.
   */
  find(
    scope: { readonly environmentUid: string; readonly integrationKey: string },
    property: string,
    value: string,
  ): Promise<Connection[]>;
}

interface IntegrationScope {
  readonly environmentUid: string;
  readonly integrationKey: string;
}

interface Index {
  readonly lookup: IntegrationScope;
  readonly property: string;
  /** Ids of connections by value. */
  readonly byValue: Map<string, Set<string>>;
  readonly valuesOf: Map<string, readonly string[]>;
  /** Ids of connections that changed since they were indexed. */
  readonly changed: Set<string>;
  /** Serializes the indexing. */
  looking: Promise<void>;
}

interface Deps {
  readonly control: ControlPlane;
  readonly vault: Vault;
}

/**
 * Each property that a provider's rules name is decrypted once for all connections of an integration, and again for
 * changed ones; the values stay in memory.
 */
export function createConnectionFinder(deps: Deps): ConnectionFinder {
  const { control } = deps;
  const indexes = new LRUCache<string, Index>({ max: indexesMax });
  const stop = control.view.onChange([connectionEntity], (changed) => {
    for (const index of indexes.values()) note(index, changed);
  });
  const indexOf = (lookup: IntegrationScope, property: string): Index => {
    const name = joinKey(lookup.environmentUid, lookup.integrationKey, property);
    const existing = indexes.get(name);
    if (existing !== undefined) return existing;
    const made = newIndex(control, lookup, property);
    indexes.set(name, made);
    return made;
  };
  const read = async (
    lookup: IntegrationScope,
    property: string,
    value: string,
  ): Promise<Connection[]> => {
    const find = (id: string): Connection[] => {
      const found = findConnection(control, lookup.environmentUid, lookup.integrationKey, id);
      return found === null ? [] : [found];
    };
    if (property === 'connectionId') return find(value);
    const index = indexOf(lookup, property);
    index.looking = index.looking.catch(() => undefined).then(() => look(deps, index));
    await index.looking;
    return [...(index.byValue.get(value) ?? [])].flatMap(find);
  };
  return {
    async find({ environmentUid, integrationKey }, property, value) {
      const scope = { environmentUid, integrationKey };
      const indexed = await read(scope, property, value);
      if (indexed.length > 0) return indexed;
      // Another node may have just created it.
      await control.view.caughtUp();
      return read(scope, property, value);
    },
    [Symbol.dispose]: () => stop(),
  };
}

function newIndex(control: ControlPlane, lookup: IntegrationScope, property: string): Index {
  const all = connectionsOfIntegration(control, lookup.environmentUid, lookup.integrationKey);
  const changed = new Set(all.map(({ connectionId }) => connectionId));
  const empty = { byValue: new Map(), valuesOf: new Map(), looking: Promise.resolve() };
  return { lookup, property, changed, ...empty };
}

function note({ lookup, changed }: Index, connections: readonly EntityRef[]): void {
  for (const { path } of connections) {
    const [environmentUid, integrationKey, connectionId] = path;
    const isOurs =
      environmentUid === lookup.environmentUid && integrationKey === lookup.integrationKey;
    if (isOurs && connectionId !== undefined) changed.add(connectionId);
  }
}

/** Decrypts changed connections. One that cannot be decrypted has no values. */
async function look({ control, vault }: Deps, index: Index): Promise<void> {
  const { lookup, property, changed } = index;
  for (const id of [...changed]) {
    const connection = findConnection(control, lookup.environmentUid, lookup.integrationKey, id);
    changed.delete(id);
    try {
      put(index, id, connection === null ? [] : await valuesOf(vault, connection, property));
    } catch (error) {
      // The key of a connection is destroyed before the connection is deleted.
      if (!(error instanceof GatewayError)) throw error;
      put(index, id, []);
    }
  }
}

function put(index: Index, id: string, values: readonly string[]): void {
  for (const value of index.valuesOf.get(id) ?? []) index.byValue.get(value)?.delete(id);
  index.valuesOf.set(id, values);
  for (const value of values) {
    const ids = index.byValue.get(value) ?? new Set();
    ids.add(id);
    index.byValue.set(value, ids);
  }
}

async function valuesOf(vault: Vault, connection: Connection, property: string): Promise<string[]> {
  if (!property.startsWith('metadata.')) {
    const config = await openConnectionConfig(vault, connection);
    return Object.hasOwn(config, property) ? oneOf(config[property] ?? null) : [];
  }
  const key = property.slice('metadata.'.length);
  if (!Object.hasOwn(connection.metadata, key)) return [];
  const metadata = await openMetadata(vault, connection);
  const value = metadata[key] ?? null;
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(oneOf);
  return isJsonObject(value) ? Object.keys(value) : oneOf(value);
}

const oneOf = (value: Json): string[] =>
  typeof value === 'string' || typeof value === 'number' ? [plainText(value)] : [];
