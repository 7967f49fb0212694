import type { Sealed } from '#kernel/ids.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { PlainFields } from './fields.ts';
import type { Connection, Credentials } from './state.ts';

/** Stored credentials: `fingerprint` is a keyed hash that distinguishes renewed credentials. */
export interface StoredCredentials {
  readonly credentials: Sealed<Credentials> | null;
  readonly fingerprint: string | null;
  readonly expiresAt: Instant | null;
}

export type SealedMetadata = Readonly<Record<string, Sealed<Json>>>;

/** The fields that a caller can change beside credentials and metadata. */
export type ConnectionProfile = PlainFields & Pick<Connection, 'endUser' | 'webhookUrlOverride'>;

export type ConnectionError = Connection['errors'][number];

/** Records of one stream at the time it was closed. */
export type ErasedStream = {
  readonly model: string;
  readonly variant: string;
  /** Payloads in plain text on the log. */
  readonly plain: number;
  /** Payloads sealed under the connection's key. */
  readonly sealed: number;
  /** Records that were pruned before. */
  readonly pruned: number;
};

/**
 * The erasure of the data of a deleted connection (docs/reference/topics.md#secrets-and-personal-data). It stays on
 * `svc.credentials.v1` for 400 days, in the message `shredded`.
 */
export type ErasureReceipt = {
  readonly connection_uid: string;
  readonly erased_at: string;
  /** Sealed under the connection's key, which is destroyed: no file of the service contains a key for them. */
  readonly unreadable_at_once: readonly string[];
  /** Removed at once for readers; in the files of the log until the time. */
  readonly gone_later: readonly {
    readonly topic: string;
    readonly what: string;
    readonly gone_by: string;
  }[];
  readonly records: readonly ErasedStream[];
};

/** The erased data; absent from nodes of earlier releases. */
export interface Erasure {
  readonly receipt?: ErasureReceipt;
}

export type ConnectionEvent =
  | { readonly type: 'ConnectionCreated'; readonly connection: Connection }
  | ({
      readonly type: 'ConnectionReauthorized';
      readonly changes: Partial<
        ConnectionProfile &
          Pick<
            Connection,
            'metadata' | 'connectionConfig' | 'validating' | 'isTested' | 'isRenewedWhileValid'
          >
      >;
      readonly at: Instant;
    } & StoredCredentials)
  /** The validation functions accepted it. */
  | { readonly type: 'ConnectionValidated'; readonly isNew: boolean; readonly at: Instant }
  | {
      readonly type: 'ProfileChanged';
      readonly changes: Partial<ConnectionProfile>;
      readonly at: Instant;
    }
  | { readonly type: 'MetadataChanged'; readonly metadata: SealedMetadata; readonly at: Instant }
  | {
      readonly type: 'RefreshBegun';
      readonly intent: NonNullable<Connection['refresh']['intent']>;
    }
  | ({
      readonly type: 'CredentialsRefreshed';
      readonly at: Instant;
      /** Null: not part of the response. */
      readonly rotatesToken: boolean | null;
      /** Null: unchanged. */
      readonly connectionConfig: Sealed<JsonObject> | null;
    } & StoredCredentials)
  | {
      /** The check was inconclusive: the provider was unavailable, or its response was invalid. */
      readonly type: 'RefreshPostponed';
      readonly errorCode: string;
      readonly providerStatus: number | null;
      readonly at: Instant;
    }
  | {
      readonly type: 'CredentialsRefused';
      readonly error: ConnectionError;
      readonly errorCode: string | null;
      readonly providerStatus: number | null;
      readonly at: Instant;
    }
  | { readonly type: 'SyncFailed'; readonly error: ConnectionError; readonly at: Instant }
  | {
      readonly type: 'ErrorCleared';
      readonly errorType: ConnectionError['type'];
      readonly at: Instant;
    }
  /** Not fetched for a day, and its credentials have expired, or are due for a check. */
  | { readonly type: 'RefreshDue'; readonly at: Instant }
  | { readonly type: 'ConnectionFetched'; readonly fetchedAt: Instant }
  | { readonly type: 'ConnectionDeletionBegun'; readonly at: Instant }
  | { readonly type: 'ConnectionDeleted'; readonly receipt: ErasureReceipt | null };
