import type { Sealed } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import type { Instant } from '../../../kernel/time.ts';
import type { EndUser } from '../connections/state.ts';

/** What the application fixes for connections of one integration. */
export interface IntegrationDefaults {
  /** Comma list, for providers that tell the user's scopes from the app's. */
  readonly userScopes?: string;
  readonly authorizationParams?: Readonly<Record<string, string>>;
  readonly connectionConfig?: JsonObject;
}

/** By unique key of the integration. */
export type SessionDefaults = Readonly<Record<string, IntegrationDefaults>>;

/**
 * What lets one end user connect for 30 minutes. Kind `connect-session`, scope = environment uid, path
 * [environment uid, id]. Index `hash` = keyed hash of the token, which is kept nowhere.
 */
export interface ConnectSession {
  readonly id: string;
  readonly environmentUid: string;
  readonly hash: string;
  /** Copied into each connection that is made: none shares it with another. */
  readonly endUser: EndUser | null;
  /** Those of the end user with the application's own laid over them. */
  readonly tags: Readonly<Record<string, string>>;
  /** Unique keys; empty = every integration of the environment. */
  readonly allowedIntegrations: readonly string[];
  /** Sealed under the key of the environment; null when there are none. */
  readonly defaults: Sealed<JsonObject> | null;
  /** Address of the help page by unique key, in place of the provider's. */
  readonly docs: Readonly<Record<string, string>>;
  /** Sealed under the key of the environment; in states of earlier releases as it is. */
  readonly webhookUrlOverride: Sealed<string> | null;
  /** The connection to authorize again; null = new ones are made. */
  readonly reconnects: {
    readonly uid: string;
    readonly integrationKey: string;
    readonly connectionId: string;
  } | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}
