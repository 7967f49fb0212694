import type { Decider } from '../../kernel/decider.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Sealed } from '../../kernel/ids.ts';
import { stableJson, type Json, type JsonObject } from '../../kernel/stable-json.ts';
import type { Instant } from '../../kernel/time.ts';
import type {
  ConnectionError,
  ConnectionEvent,
  ConnectionProfile,
  Held,
  SealedMetadata,
} from './events.ts';
import { normaliseTags, type Connection } from './state.ts';

/**
 * Creates the connection, or gives the one under the same id new credentials. `uid` is that of the connection
 * whose key sealed the values: a fresh one, or the known one's.
 */
export type ImportConnection = {
  readonly type: 'Import';
  readonly uid: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly provider: string;
  readonly authMode: string;
  /** Left as they are, or empty, when absent. */
  readonly metadata?: SealedMetadata;
  readonly connectionConfig: Sealed<JsonObject>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly endUser?: Connection['endUser'];
  readonly webhookUrlOverride?: string | null;
  readonly at: Instant;
  readonly numericId: number;
} & Held;

export type ConnectionCommand =
  | ImportConnection
  | {
      readonly type: 'Patch';
      readonly changes: Partial<ConnectionProfile>;
      readonly at: Instant;
    }
  | {
      readonly type: 'SetMetadata';
      readonly uid: string;
      readonly metadata: SealedMetadata;
      readonly at: Instant;
    }
  | {
      readonly type: 'MergeMetadata';
      readonly uid: string;
      readonly metadata: SealedMetadata;
      readonly at: Instant;
    }
  | ({
      readonly type: 'StoreCredentials';
      readonly uid: string;
      /** Refused with `conflict` when others were stored meanwhile. */
      readonly ifVersion: number;
      readonly at: Instant;
    } & Held)
  | {
      readonly type: 'MarkError';
      readonly error: ConnectionError;
      readonly errorCode?: string;
      readonly providerStatus?: number;
      readonly at: Instant;
    }
  | {
      readonly type: 'ClearError';
      readonly errorType: ConnectionError['type'];
      readonly at: Instant;
    }
  | {
      readonly type: 'ObserveFetch';
      readonly uid: string;
      readonly fetchedAt: Instant;
      readonly at: Instant;
    }
  | { readonly type: 'MarkDeleting'; readonly at: Instant }
  | { readonly type: 'Delete'; readonly uid: string; readonly at: Instant };

export const connection: Decider<Connection | null, ConnectionCommand, ConnectionEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Import':
        return imported(command, state);
      case 'Patch':
        return patched(command, live(state));
      case 'SetMetadata':
        return metadataChanged(command, live(state, command.uid), command.metadata);
      case 'MergeMetadata': {
        const known = live(state, command.uid);
        return metadataChanged(command, known, { ...known.metadata, ...command.metadata });
      }
      case 'StoreCredentials':
        return stored(command, live(state, command.uid));
      case 'MarkError':
        return markedError(command, live(state));
      case 'ClearError':
        return cleared(command.errorType, live(state), command.at);
      case 'ObserveFetch':
        return fetched(command, state);
      case 'MarkDeleting':
        if (state === null) throw new GatewayError('unknown_connection');
        return state.isDeleting ? [] : [{ type: 'ConnectionDeletionBegun', at: command.at }];
      case 'Delete':
        return state?.uid === command.uid ? [{ type: 'ConnectionDeleted' }] : [];
    }
  },

  evolve,
};

function evolve(state: Connection | null, event: ConnectionEvent): Connection | null {
  if (event.type === 'ConnectionCreated') return event.connection;
  if (state === null || event.type === 'ConnectionDeleted') return null;
  switch (event.type) {
    case 'ConnectionReauthorized':
      return { ...withCredentials(state, event), ...event.changes };
    case 'CredentialsRefreshed':
      return withCredentials(state, event);
    case 'ProfileChanged':
      return { ...state, ...event.changes, updatedAt: event.at };
    case 'MetadataChanged':
      return { ...state, metadata: event.metadata, updatedAt: event.at };
    case 'CredentialsRefused':
    case 'SyncFailed': {
      const others = state.errors.filter(({ type }) => type !== event.error.type);
      return { ...state, errors: [...others, event.error], updatedAt: event.at };
    }
    case 'ErrorCleared': {
      const errors = state.errors.filter(({ type }) => type !== event.errorType);
      return { ...state, errors, updatedAt: event.at };
    }
    case 'ConnectionFetched':
      return { ...state, lastFetchedAt: event.fetchedAt };
    case 'ConnectionDeletionBegun':
      return { ...state, isDeleting: true, updatedAt: event.at };
  }
}

/** New credentials end the error that the old ones had. */
function withCredentials(state: Connection, event: Held & { readonly at: Instant }): Connection {
  return {
    ...state,
    credentials: event.credentials,
    fingerprint: event.fingerprint,
    expiresAt: event.expiresAt,
    credentialsVersion: state.credentialsVersion + 1,
    errors: state.errors.filter(({ type }) => type !== 'auth'),
    updatedAt: event.at,
  };
}

function imported(command: ImportConnection, state: Connection | null): ConnectionEvent[] {
  if (state?.isDeleting === true) {
    throw new GatewayError('conflict', { message: 'The connection is being deleted; try again.' });
  }
  const tags = command.tags === undefined ? undefined : normaliseTags(command.tags);
  if (state === null) return [{ type: 'ConnectionCreated', connection: fresh(command, tags) }];
  if (state.uid !== command.uid) {
    // The values are sealed under another connection's key: they would be unreadable here.
    throw new GatewayError('conflict', { message: 'The connection was created meanwhile.' });
  }
  const { credentials, fingerprint, expiresAt, metadata, endUser, webhookUrlOverride, at } =
    command;
  const changes = {
    connectionConfig: command.connectionConfig,
    ...(metadata === undefined ? {} : { metadata }),
    ...(tags === undefined ? {} : { tags }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(webhookUrlOverride === undefined ? {} : { webhookUrlOverride }),
  };
  return [{ type: 'ConnectionReauthorized', changes, credentials, fingerprint, expiresAt, at }];
}

function fresh(
  command: ImportConnection,
  tags: Readonly<Record<string, string>> | undefined,
): Connection {
  const { uid, numericId, environmentUid, integrationKey, connectionId, at } = command;
  return {
    uid,
    id: numericId,
    environmentUid,
    integrationKey,
    connectionId,
    provider: command.provider,
    authMode: command.authMode,
    credentials: command.credentials,
    credentialsVersion: 1,
    fingerprint: command.fingerprint,
    expiresAt: command.expiresAt,
    metadata: command.metadata ?? {},
    connectionConfig: command.connectionConfig,
    tags: tags ?? {},
    endUser: command.endUser ?? null,
    webhookUrlOverride: command.webhookUrlOverride ?? null,
    errors: [],
    isDeleting: false,
    createdAt: at,
    updatedAt: at,
    lastFetchedAt: null,
  };
}

function patched(
  command: Extract<ConnectionCommand, { type: 'Patch' }>,
  state: Connection,
): ConnectionEvent[] {
  const { tags, ...rest } = command.changes;
  const changes = tags === undefined ? rest : { ...rest, tags: normaliseTags(tags) };
  if (isSame({ ...state, ...changes }, state)) return [];
  return [{ type: 'ProfileChanged', changes, at: command.at }];
}

function metadataChanged(
  { at }: { readonly at: Instant },
  state: Connection,
  metadata: SealedMetadata,
): ConnectionEvent[] {
  const isEmptyStill = Object.keys(metadata).length + Object.keys(state.metadata).length === 0;
  return isEmptyStill ? [] : [{ type: 'MetadataChanged', metadata, at }];
}

function stored(
  command: Extract<ConnectionCommand, { type: 'StoreCredentials' }>,
  state: Connection,
): ConnectionEvent[] {
  if (state.credentialsVersion !== command.ifVersion) {
    throw new GatewayError('conflict', { message: 'Other credentials were stored meanwhile.' });
  }
  const { credentials, fingerprint, expiresAt, at } = command;
  return [{ type: 'CredentialsRefreshed', credentials, fingerprint, expiresAt, at }];
}

function markedError(
  command: Extract<ConnectionCommand, { type: 'MarkError' }>,
  state: Connection,
): ConnectionEvent[] {
  const { error, errorCode = null, providerStatus = null, at } = command;
  if (state.errors.some(({ type, log_id }) => type === error.type && log_id === error.log_id)) {
    return [];
  }
  if (error.type === 'sync') return [{ type: 'SyncFailed', error, at }];
  return [{ type: 'CredentialsRefused', error, errorCode, providerStatus, at }];
}

function cleared(
  errorType: ConnectionError['type'],
  state: Connection,
  at: Instant,
): ConnectionEvent[] {
  const isMarked = state.errors.some(({ type }) => type === errorType);
  return isMarked ? [{ type: 'ErrorCleared', errorType, at }] : [];
}

function fetched(
  command: Extract<ConnectionCommand, { type: 'ObserveFetch' }>,
  state: Connection | null,
): ConnectionEvent[] {
  const { uid, fetchedAt } = command;
  if (state?.uid !== uid || (state.lastFetchedAt ?? 0) >= fetchedAt) return [];
  return [{ type: 'ConnectionFetched', fetchedAt }];
}

/** @throws GatewayError `unknown_connection`: gone, going, or another under the same id. */
function live(state: Connection | null, uid?: string): Connection {
  const isAnother = uid !== undefined && state?.uid !== uid;
  if (state === null || state.isDeleting || isAnother) throw new GatewayError('unknown_connection');
  return state;
}

const isSame = (a: Connection, b: Connection): boolean =>
  stableJson(a as unknown as Json) === stableJson(b as unknown as Json);
