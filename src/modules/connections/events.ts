import type { Sealed } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import type { Instant } from '../../kernel/time.ts';
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

export type ConnectionEvent =
  | { readonly type: 'ConnectionCreated'; readonly connection: Connection }
  | ({
      readonly type: 'ConnectionReauthorized';
      readonly changes: Partial<
        ConnectionProfile & Pick<Connection, 'metadata' | 'connectionConfig' | 'validating'>
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
  /** Nobody has fetched it for a day, and its credentials have expired. */
  | { readonly type: 'RefreshDue'; readonly at: Instant }
  | { readonly type: 'ConnectionFetched'; readonly fetchedAt: Instant }
  | { readonly type: 'ConnectionDeletionBegun'; readonly at: Instant }
  | { readonly type: 'ConnectionDeleted' };
