import type { Sealed } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/stable-json.ts';
import type { Instant } from '../../kernel/time.ts';

export interface EndUser {
  readonly id: string;
  readonly email: string | null;
  readonly displayName: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly organization: { readonly id: string; readonly displayName: string | null } | null;
}

/** Credentials as the API returns them (contract/auth-modes.md section 2): `type` and the mode's fields. */
export type Credentials = { readonly type: string } & JsonObject;

/**
 * Scope = `joinKey(environment uid, integration key, connection id)`; path the same three parts.
 * Indexes: `uid`, `environment` (environment uid).
 */
export interface Connection {
  readonly uid: string;
  /** Number shown by the API. */
  readonly id: number;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly provider: string;
  readonly authMode: string;
  /** Sealed under the connection's data key; null for mode NONE. */
  readonly credentials: Sealed<Credentials> | null;
  /** Grows with each stored set of credentials. */
  readonly credentialsVersion: number;
  readonly expiresAt: Instant | null;
  /** Sealed: metadata may hold webhook secrets. Null = none. */
  readonly metadata: Sealed<JsonObject> | null;
  readonly connectionConfig: Sealed<JsonObject>;
  readonly tags: Readonly<Record<string, string>>;
  readonly endUser: EndUser | null;
  readonly webhookUrlOverride: string | null;
  readonly errors: readonly { readonly type: 'auth' | 'sync'; readonly log_id: string }[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly lastFetchedAt: Instant | null;
}
