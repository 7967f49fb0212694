import type {
  DecisionMeta,
  EntityDefinition,
  EntityRef,
  PublicMessage,
} from '#control-plane/entity.ts';
import { whileDeleting } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { connection, type ConnectionCommand } from './decider.ts';
import type { ConnectionEvent } from './events.ts';
import { plainValues } from './fields.ts';
import { connectionTable } from './search.ts';
import { connectionDueAt, type Connection } from './state.ts';

export interface ConnectionEntity {
  readonly kind: 'connection';
  readonly state: Connection;
  readonly command: ConnectionCommand;
  readonly event: ConnectionEvent;
  readonly topic: 'svc.connections.v1' | 'svc.credentials.v1';
  readonly index: 'uid' | 'id' | 'deleting' | 'postponed' | 'failing';
}

/** Environment uid, integration key, connection id. */
export type ConnectionPath = readonly [string, string, string];

export const connectionPathOf = (ref: {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
}): ConnectionPath => [ref.environmentUid, ref.integrationKey, ref.connectionId];

export function connectionRef(
  environmentUid: string,
  integrationKey: string,
  connectionId: string,
): EntityRef<ConnectionEntity> {
  const path = [environmentUid, integrationKey, connectionId];
  return { kind: 'connection', scope: joinKey(...path), path };
}

export const connectionEntity: EntityDefinition<ConnectionEntity> = {
  kind: 'connection',
  indexes: {
    uid: ({ uid }) => uid,
    id: ({ id }) => String(id),
    deleting: whileDeleting,
    postponed: ({ refresh, isDeleting, environmentUid }) =>
      refresh.failingSince != null && !isDeleting ? environmentUid : null,
    failing: ({ errors, isDeleting, environmentUid }) =>
      errors.length > 0 && !isDeleting ? environmentUid : null,
  },
  searchTable: connectionTable,
  decider: connection,
  isNumbered: true,
  dueAt: connectionDueAt,

  publishes: { 'svc.connections.v1': true, 'svc.credentials.v1': true },
  publish(event, before, after, meta) {
    const subject = after ?? before;
    // The time of the last fetch is an observation: the next event contains it.
    if (subject === null || event.type === 'ConnectionFetched') return [];
    if (event.type === 'RefreshBegun' || isUntold(event, before, after)) return [];
    const recovers = isRecovery(event, before);
    const change = { isGone: after === null, recovers };
    const messages = event.type === 'RefreshDue' ? [] : lifeMessages(event, subject, change, meta);
    const credentials = credentialsMessage(event, subject, recovers);
    return credentials === null ? messages : [...messages, credentials];
  },
};

/** Credentials recovered: refreshed, or accepted by the provider again. */
function isRecovery(event: ConnectionEvent, before: Connection | null): boolean {
  if (event.type === 'ErrorCleared') return event.errorType === 'auth';
  if (event.type !== 'CredentialsRefreshed') return false;
  return before?.errors.some(({ type }) => type === 'auth') === true;
}

/** A new connection is published when it is valid, and so are new credentials of an existing one. */
function isUntold(
  event: ConnectionEvent,
  before: Connection | null,
  after: Connection | null,
): boolean {
  if (event.type === 'ConnectionValidated') return false;
  if (event.type === 'ConnectionReauthorized') return after?.validating != null;
  return (before ?? after)?.validating?.isNew === true;
}

function place(subject: Connection): Omit<PublicMessage, 'topic' | 'type' | 'value'> {
  const { environmentUid, integrationKey, connectionId } = subject;
  return {
    key: joinKey(environmentUid, integrationKey, connectionId),
    environmentUid,
    integration: integrationKey,
    connectionId,
  };
}

/** `deletion_begun` and `sync_failed` are ours beside the catalog's: its actions are an open set. */
function actionOf(event: ConnectionEvent, recovers: boolean): string {
  switch (event.type) {
    case 'ConnectionCreated':
      return 'created';
    case 'ConnectionReauthorized':
      return 'reauthorized';
    case 'ConnectionValidated':
      return event.isNew ? 'created' : 'reauthorized';
    case 'ProfileChanged':
      return 'tags' in event.changes ? 'tags_changed' : 'updated';
    case 'MetadataChanged':
      return 'metadata_changed';
    case 'CredentialsRefreshed':
      return recovers ? 'auth_recovered' : 'updated';
    case 'RefreshBegun':
    case 'RefreshDue':
    case 'RefreshPostponed':
    case 'ConnectionFetched':
    case 'SyncFailed':
      return 'updated';
    case 'CredentialsRefused':
      return 'auth_failed';
    case 'ErrorCleared':
      return event.errorType === 'auth' ? 'auth_recovered' : 'updated';
    case 'ConnectionDeletionBegun':
      return 'deletion_begun';
    case 'ConnectionDeleted':
      return 'deleted';
  }
}

function lifeMessages(
  event: ConnectionEvent,
  subject: Connection,
  { isGone, recovers }: { readonly isGone: boolean; readonly recovers: boolean },
  meta: DecisionMeta,
): PublicMessage<'svc.connections.v1'>[] {
  const action = actionOf(event, recovers);
  const base = {
    ...place(subject),
    topic: 'svc.connections.v1' as const,
    type: `svc.connection.${action}`,
  };
  const value = {
    action,
    connection_uid: subject.uid,
    provider: subject.provider,
    auth_mode: subject.authMode,
    ...plainValues(subject),
    metadata_keys: Object.keys(subject.metadata),
    metadata: null,
    errors: subject.errors.map(({ type, log_id }) => ({ type, log_id })),
    created_at: subject.createdAt * 1000,
    updated_at: (isGone ? meta.at : subject.updatedAt) * 1000,
    last_fetched_at: subject.lastFetchedAt === null ? null : subject.lastFetchedAt * 1000,
  };
  return isGone
    ? [
        { ...base, value },
        { ...base, value: null },
      ]
    : [{ ...base, value }];
}

/** The change of the credentials; null for other events. Never contains the credentials. */
function credentialsMessage(
  event: ConnectionEvent,
  subject: Connection,
  recovers: boolean,
): PublicMessage<'svc.credentials.v1'> | null {
  const isSyncError = event.type === 'ErrorCleared' && event.errorType !== 'auth';
  const action = isSyncError ? undefined : credentialActions[event.type];
  if (action === undefined) return null;
  const isFailure = event.type === 'CredentialsRefused' || event.type === 'RefreshPostponed';
  const refused = isFailure ? event : null;
  const receipt = event.type === 'ConnectionDeleted' ? event.receipt : null;
  return {
    ...place(subject),
    topic: 'svc.credentials.v1',
    type: `svc.credentials.${action}`,
    value: {
      action,
      connection_uid: subject.uid,
      auth_mode: subject.authMode,
      fingerprint: subject.fingerprint ?? '',
      key_id: subject.uid,
      expires_at: subject.expiresAt === null ? null : subject.expiresAt * 1000,
      granted_scopes: [],
      attempt: subject.credentialsVersion,
      error_code: refused?.errorCode ?? null,
      provider_status: refused?.providerStatus ?? null,
      exhausted: subject.refresh.failureDays >= limits.refreshFailureDaysMax,
      recovers,
      erasure: receipt === null ? null : JSON.stringify(receipt),
    },
  };
}

const credentialActions: Partial<Record<ConnectionEvent['type'], string>> = {
  ConnectionCreated: 'stored',
  ConnectionReauthorized: 'stored',
  ConnectionValidated: 'stored',
  CredentialsRefreshed: 'refreshed',
  CredentialsRefused: 'refresh_failed',
  RefreshPostponed: 'refresh_postponed',
  RefreshDue: 'refresh_due',
  ErrorCleared: 'tested',
  ConnectionDeleted: 'shredded',
};
