import type { Sealed } from '../../../kernel/ids.ts';
import type { Json, JsonObject } from '../../../kernel/stable-json.ts';
import type { Instant } from '../../../kernel/time.ts';
import type { Connection, Credentials } from './state.ts';

/** Credentials as held: `fingerprint` is a keyed hash that tells renewed ones from the same ones. */
export interface Held {
  readonly credentials: Sealed<Credentials> | null;
  readonly fingerprint: string | null;
  readonly expiresAt: Instant | null;
}

export type SealedMetadata = Readonly<Record<string, Sealed<Json>>>;

/** What a caller may change beside credentials and metadata. */
export type ConnectionProfile = Pick<Connection, 'tags' | 'endUser' | 'webhookUrlOverride'>;

export type ConnectionError = Connection['errors'][number];

/** Records of one stream as they were when it was closed. */
export type ErasedStream = {
  readonly model: string;
  readonly variant: string;
  /** Payloads that stood on the log in the clear. */
  readonly plain: number;
  /** Payloads under the connection's key. */
  readonly sealed: number;
  /** Records that were pruned before. */
  readonly pruned: number;
};

/**
 * What became of the data of a deleted connection (docs/reference/topics.md#secrets-and-personal-data). It stays on
 * `svc.credentials.v1` for 400 days, in the message `shredded`.
 */
export type ErasureReceipt = {
  readonly connection_uid: string;
  readonly erased_at: string;
  /** Sealed under the connection's key, which is destroyed: nothing in any file of the service opens them. */
  readonly unreadable_at_once: readonly string[];
  /** Removed at once from all that is read; in the files of the log until the time. */
  readonly gone_later: readonly {
    readonly topic: string;
    readonly what: string;
    readonly gone_by: string;
  }[];
  readonly records: readonly ErasedStream[];
};

/** What a deletion has erased; a node of an earlier release does not say. */
export interface Erased {
  readonly receipt?: ErasureReceipt;
}

export type ConnectionEvent =
  | { readonly type: 'ConnectionCreated'; readonly connection: Connection }
  | ({
      readonly type: 'ConnectionReauthorized';
      readonly changes: Partial<
        ConnectionProfile &
          Pick<Connection, 'metadata' | 'connectionConfig' | 'validating' | 'isTested'>
      >;
      readonly at: Instant;
    } & Held)
  /** Functions looked at it and found nothing wrong. */
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
      /** Null: it said nothing about it. */
      readonly rotatesToken: boolean | null;
      /** Null: as it was. */
      readonly connectionConfig: Sealed<JsonObject> | null;
    } & Held)
  | {
      /** Nothing was learnt about the credentials: the provider was away, or answered nonsense. */
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
  /** Nobody has fetched it for a day, and its credentials have expired, or are to be tried. */
  | { readonly type: 'RefreshDue'; readonly at: Instant }
  | { readonly type: 'ConnectionFetched'; readonly fetchedAt: Instant }
  | { readonly type: 'ConnectionDeletionBegun'; readonly at: Instant }
  | { readonly type: 'ConnectionDeleted'; readonly receipt: ErasureReceipt | null };
