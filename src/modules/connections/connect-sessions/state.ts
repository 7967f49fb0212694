import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { EndUser } from '../connections/state.ts';

/** The values that the application sets for connections of one integration. */
export interface IntegrationDefaults {
  /** Comma-separated list, for providers that distinguish scopes of the user and of the app. */
  readonly userScopes?: string;
  readonly authorizationParams?: Readonly<Record<string, string>>;
  readonly connectionConfig?: JsonObject;
}

/** By unique key of the integration. */
export type SessionDefaults = Readonly<Record<string, IntegrationDefaults>>;

/**
 * Allows one end user to connect for 30 minutes. Kind `connect-session`, scope = environment uid, path [environment
 * uid, id]. Index `hash` = keyed hash of the token, which is not stored.
 */
export interface ConnectSession {
  readonly id: string;
  readonly environmentUid: string;
  readonly hash: string;
  /** Copied into each created connection. */
  readonly endUser: EndUser | null;
  /** Tags of the end user, overridden by the application's. */
  readonly tags: Readonly<Record<string, string>>;
  /** Unique keys; empty = every integration of the environment. */
  readonly allowedIntegrations: readonly string[];
  /** Sealed under the key of the environment; null when there are none. */
  readonly defaults: Sealed<JsonObject> | null;
  /** Address of the help page by unique key; replaces the provider's. */
  readonly docs: Readonly<Record<string, string>>;
  /** Sealed under the key of the environment; plain text in states of earlier releases. */
  readonly webhookUrlOverride: Sealed<string> | null;
  /** The connection to reauthorize; null = creates new ones. */
  readonly reconnects: {
    readonly uid: string;
    readonly integrationKey: string;
    readonly connectionId: string;
  } | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}
