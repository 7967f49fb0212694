import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type {
  ConnectionError,
  ConnectionEvent,
  ConnectionProfile,
  Erasure,
  StoredCredentials,
  SealedMetadata,
} from './events.ts';
import { plainValues, setFields } from './fields.ts';
import {
  afterTime,
  cleared,
  failedOnce,
  isRefusedForLong,
  isSame,
  markedError,
  postponed,
  refusedByFunction,
  tested,
  validationFailed,
  type CredentialsTested,
  type MarkError,
} from './rules.ts';
import { neverRefreshed, normalizeTags, validatingAfter, type Connection } from './state.ts';

/**
 * Creates the connection, or stores new credentials in the one with the same id. `uid` is that of the connection whose
 * key sealed the values: a new one, or the existing one's.
 */
export type ImportConnection = {
  readonly type: 'Import';
  readonly uid: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly provider: string;
  readonly authMode: string;
  /** Unchanged, or empty, when absent. */
  readonly metadata?: SealedMetadata;
  readonly connectionConfig: Sealed<JsonObject>;
  /** Not published until `Confirm`. */
  readonly isToBeValidated?: boolean;
  /** As in the state of the connection; `createdAt` of another gateway, ignored if it exists. */
  readonly isTested?: boolean;
  readonly isRenewedWhileValid?: boolean;
  readonly createdAt?: Instant;
  readonly at: Instant;
  readonly numericId: number;
} & StoredCredentials &
  Partial<ConnectionProfile>;

/**
 * Records that a refresh request is about to be sent. With an earlier intent without an outcome it is refused with
 * `conflict` while that request may be in progress; later that request counts as sent, and a token that may rotate is
 * given up.
 */
export interface BeginRefresh {
  readonly type: 'BeginRefresh';
  readonly uid: string;
  readonly id: string;
  readonly ifVersion: number;
  readonly spendsToken: boolean;
  /** Id of the log entry of an interrupted refresh. */
  readonly logId: string;
  readonly at: Instant;
}

export interface RefreshFailed {
  readonly type: 'RefreshFailed';
  readonly uid: string;
  /** The intent of this outcome. */
  readonly id: string;
  readonly isDefinitive: boolean;
  readonly logId: string;
  readonly errorCode: string;
  readonly providerStatus: number | null;
  readonly at: Instant;
}

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
      /** Refused with `conflict` when others were stored concurrently. */
      readonly ifVersion: number;
      readonly rotatesToken?: boolean | null;
      readonly connectionConfig?: Sealed<JsonObject> | null;
      readonly at: Instant;
    } & StoredCredentials)
  | BeginRefresh
  | RefreshFailed
  | MarkError
  | CredentialsTested
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
  /** The validation functions accepted it. */
  | { readonly type: 'Confirm'; readonly uid: string; readonly at: Instant }
  /** A function refused the new credentials of an existing connection. */
  | { readonly type: 'Refuse'; readonly uid: string; readonly logId: string; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant }
  | { readonly type: 'MarkDeleting'; readonly at: Instant }
  | ({ readonly type: 'Delete'; readonly uid: string; readonly at: Instant } & Erasure);

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
        const existing = live(state, command.uid);
        return metadataChanged(command, existing, { ...existing.metadata, ...command.metadata });
      }
      case 'StoreCredentials':
        return stored(command, live(state, command.uid));
      case 'BeginRefresh':
        return begun(command, live(state, command.uid));
      case 'RefreshFailed':
        return refreshFailed(command, live(state, command.uid));
      case 'Tested':
        return tested(command, live(state, command.uid));
      case 'MarkError':
        return markedError(command, live(state));
      case 'ClearError':
        return cleared(command.errorType, live(state), command.at);
      case 'ObserveFetch':
        return fetched(command, state);
      case 'Tick':
        return state === null ? [] : afterTime(state, command.at);
      case 'Confirm': {
        const isNew = live(state, command.uid).validating?.isNew;
        return isNew === undefined ? [] : [{ type: 'ConnectionValidated', isNew, at: command.at }];
      }
      case 'Refuse': {
        const { validating } = live(state, command.uid);
        return validating == null ? [] : [refusedByFunction(command.logId, command.at)];
      }
      case 'MarkDeleting':
        if (state === null) throw new GatewayError('unknown_connection');
        return state.isDeleting ? [] : [{ type: 'ConnectionDeletionBegun', at: command.at }];
      case 'Delete':
        return state?.uid === command.uid
          ? [{ type: 'ConnectionDeleted', receipt: command.receipt ?? null }]
          : [];
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
      return refreshed(state, event);
    case 'RefreshBegun':
      return { ...state, refresh: { ...state.refresh, intent: event.intent } };
    case 'RefreshPostponed':
      return { ...state, refresh: postponed(state.refresh, event.at) };
    case 'ProfileChanged':
      return { ...state, ...event.changes, updatedAt: event.at };
    case 'MetadataChanged':
      return { ...state, metadata: event.metadata, updatedAt: event.at };
    case 'ConnectionValidated':
      return { ...state, validating: null, updatedAt: event.at };
    case 'CredentialsRefused':
      if (event.errorCode === validationFailed) {
        return { ...withError(state, event), validating: null };
      }
      return { ...withError(state, event), refresh: failedOnce(state.refresh, event.at) };
    case 'SyncFailed':
      return withError(state, event);
    case 'ErrorCleared': {
      const errors = state.errors.filter(({ type }) => type !== event.errorType);
      const isWell = event.errorType === 'auth' ? { refresh: wellAgain(state) } : {};
      return { ...state, ...isWell, errors, updatedAt: event.at };
    }
    case 'RefreshDue':
      return { ...state, refresh: { ...state.refresh, askedAt: event.at } };
    case 'ConnectionFetched':
      return { ...state, lastFetchedAt: event.fetchedAt };
    case 'ConnectionDeletionBegun':
      return { ...state, isDeleting: true, updatedAt: event.at };
  }
}

function withError(
  state: Connection,
  { error, at }: { readonly error: ConnectionError; readonly at: Instant },
): Connection {
  const others = state.errors.filter(({ type }) => type !== error.type);
  return { ...state, errors: [...others, error], updatedAt: at };
}

function refreshed(
  state: Connection,
  event: Extract<ConnectionEvent, { type: 'CredentialsRefreshed' }>,
): Connection {
  const rotatesToken = event.rotatesToken ?? state.refresh.rotatesToken;
  return {
    ...withCredentials(state, event),
    connectionConfig: event.connectionConfig ?? state.connectionConfig,
    refresh: { ...neverRefreshed, rotatesToken },
  };
}

/** Clears the auth error of the credentials, but keeps the time of their last check. */
const wellAgain = ({ refresh: { rotatesToken, askedAt } }: Connection): Connection['refresh'] => ({
  ...neverRefreshed,
  rotatesToken,
  askedAt,
});

/** New credentials clear the auth error of the old ones. */
function withCredentials(
  state: Connection,
  event: StoredCredentials & { readonly at: Instant },
): Connection {
  return {
    ...state,
    credentials: event.credentials,
    fingerprint: event.fingerprint,
    expiresAt: event.expiresAt,
    credentialsAt: event.at,
    credentialsVersion: state.credentialsVersion + 1,
    refresh: neverRefreshed,
    errors: state.errors.filter(({ type }) => type !== 'auth'),
    updatedAt: event.at,
  };
}

function imported(command: ImportConnection, state: Connection | null): ConnectionEvent[] {
  if (state?.isDeleting === true) {
    throw new GatewayError('conflict', { message: 'The connection is being deleted; try again.' });
  }
  const plain = withNormalTags(setFields(command));
  if (state === null) {
    return [{ type: 'ConnectionCreated', connection: fresh({ ...command, ...plain }) }];
  }
  if (state.uid !== command.uid) {
    // The values are sealed under the key of another connection and would be unreadable.
    throw new GatewayError('conflict', { message: 'The connection was created concurrently.' });
  }
  const { credentials, fingerprint, expiresAt, metadata, endUser, webhookUrlOverride, at } =
    command;
  const changes = {
    connectionConfig: command.connectionConfig,
    ...(metadata === undefined ? {} : { metadata }),
    ...plain,
    ...(endUser === undefined ? {} : { endUser }),
    ...(webhookUrlOverride === undefined ? {} : { webhookUrlOverride }),
    validating: validatingAfter(command, state),
    ...(command.isTested === undefined ? {} : { isTested: command.isTested }),
    ...(command.isRenewedWhileValid === undefined
      ? {}
      : { isRenewedWhileValid: command.isRenewedWhileValid }),
  };
  return [{ type: 'ConnectionReauthorized', changes, credentials, fingerprint, expiresAt, at }];
}

const withNormalTags = <Fields extends Partial<ConnectionProfile>>(fields: Fields): Fields =>
  fields.tags === undefined ? fields : { ...fields, tags: normalizeTags(fields.tags) };

function fresh(command: ImportConnection): Connection {
  const { uid, numericId, environmentUid, integrationKey, connectionId, createdAt, at } = command;
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
    credentialsAt: at,
    refresh: neverRefreshed,
    metadata: command.metadata ?? {},
    connectionConfig: command.connectionConfig,
    ...plainValues(command),
    endUser: command.endUser ?? null,
    webhookUrlOverride: command.webhookUrlOverride ?? null,
    errors: [],
    validating: validatingAfter(command, null),
    isTested: command.isTested ?? false,
    ...(command.isRenewedWhileValid === true ? { isRenewedWhileValid: true } : {}),
    isDeleting: false,
    createdAt: createdAt ?? at,
    updatedAt: at,
    // Otherwise a connection that was created long ago would count as unused.
    lastFetchedAt: createdAt === undefined ? null : at,
  };
}

function patched(
  command: Extract<ConnectionCommand, { type: 'Patch' }>,
  state: Connection,
): ConnectionEvent[] {
  const changes = withNormalTags(command.changes);
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
    throw new GatewayError('conflict', { message: 'The credentials were changed concurrently.' });
  }
  const { credentials, fingerprint, expiresAt, at } = command;
  const { rotatesToken = null, connectionConfig = null } = command;
  const held = { credentials, fingerprint, expiresAt };
  return [{ type: 'CredentialsRefreshed', ...held, rotatesToken, connectionConfig, at }];
}

function begun(command: BeginRefresh, state: Connection): ConnectionEvent[] {
  const { id, ifVersion, spendsToken, logId, at } = command;
  if (state.credentialsVersion !== ifVersion) {
    throw new GatewayError('conflict', { message: 'The credentials were changed concurrently.' });
  }
  const { intent, rotatesToken } = state.refresh;
  if (intent !== null && at - intent.at < limits.refreshLeaseMs) {
    throw new GatewayError('conflict', { message: 'Another node is refreshing the connection.' });
  }
  if (intent?.spendsToken === true && rotatesToken !== false) {
    // It is unknown whether the token was presented. A token that rotates is never presented twice.
    const error = { type: 'auth', log_id: logId } as const;
    const errorCode = 'refresh_interrupted';
    return [{ type: 'CredentialsRefused', error, errorCode, providerStatus: null, at }];
  }
  return [{ type: 'RefreshBegun', intent: { id, at, spendsToken } }];
}

function refreshFailed(command: RefreshFailed, state: Connection): ConnectionEvent[] {
  const { id, isDefinitive, logId, errorCode, providerStatus, at } = command;
  if (state.refresh.intent?.id !== id) return [];
  if (!isDefinitive && !isRefusedForLong(command, state)) {
    return [{ type: 'RefreshPostponed', errorCode, providerStatus, at }];
  }
  const error = { type: 'auth', log_id: logId } as const;
  return [{ type: 'CredentialsRefused', error, errorCode, providerStatus, at }];
}

function fetched(
  command: Extract<ConnectionCommand, { type: 'ObserveFetch' }>,
  state: Connection | null,
): ConnectionEvent[] {
  const { uid, fetchedAt } = command;
  if (state?.uid !== uid || (state.lastFetchedAt ?? 0) >= fetchedAt) return [];
  return [{ type: 'ConnectionFetched', fetchedAt }];
}

/** @throws GatewayError `unknown_connection`: deleted, being deleted, or another one with the same id. */
function live(state: Connection | null, uid?: string): Connection {
  const isAnother = uid !== undefined && state?.uid !== uid;
  if (state === null || state.isDeleting || isAnother) throw new GatewayError('unknown_connection');
  return state;
}
