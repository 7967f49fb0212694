import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { EndUser } from '../connections/state.ts';

/**
 * A user is at the provider; any node can handle the callback, once. Kind `authorization`, scope = environment uid,
 * path [environment uid, id]. Index `hash` = keyed hash of the `state` parameter.
 */
export interface Authorization {
  /** Also the id of its operation in the log that users read. */
  readonly id: string;
  readonly environmentUid: string;
  readonly hash: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  /** Uid of the connection to reauthorize; null = a new one. */
  readonly reconnectsUid: string | null;
  /** The WebSocket that waits for the outcome. */
  readonly socketId: string | null;
  readonly endUser: EndUser | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Sealed under the key of the environment; plain text in states of earlier releases. */
  readonly webhookUrlOverride: Sealed<string> | null;
  /** The caller that started it, because the callback has no credential. */
  readonly actor: string;
  /** `RedirectDetails`, sealed under the key of the environment. */
  readonly details: Sealed<JsonObject>;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** The state of the mode, and the configuration of the connection. */
export interface RedirectDetails {
  readonly callbackUrl: string;
  readonly authorizationParams: Readonly<Record<string, string>>;
  readonly override: { readonly clientId?: string; readonly clientSecret?: string } | null;
  /** The requested configuration; overrides the values from the provider. */
  readonly askedConfig: JsonObject;
  /** The state of the mode: verifier, secret of the request token. */
  readonly kept: JsonObject;
}
