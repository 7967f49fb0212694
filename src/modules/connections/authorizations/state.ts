import type { Sealed } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import type { Instant } from '../../../kernel/time.ts';
import type { EndUser } from '../connections/state.ts';

/**
 * A person is at the provider; whichever node the callback reaches goes on from here, once. Kind
 * `authorization`, scope = environment uid, path [environment uid, id]. Index `hash` = keyed hash of the
 * `state` parameter.
 */
export interface Authorization {
  /** Also that of its operation in the log that users read. */
  readonly id: string;
  readonly environmentUid: string;
  readonly hash: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  /** Uid of the connection that is authorized again; null = a new one. */
  readonly reconnectsUid: string | null;
  /** The WebSocket that waits for the outcome. */
  readonly socketId: string | null;
  readonly endUser: EndUser | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Sealed under the key of the environment; in states of earlier releases as it is. */
  readonly webhookUrlOverride: Sealed<string> | null;
  /** Who began it: the callback comes without a credential. */
  readonly actor: string;
  /** `RedirectDetails`, sealed under the key of the environment. */
  readonly details: Sealed<JsonObject>;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** What the mode needs to finish, and what the connection is configured with. */
export interface RedirectDetails {
  readonly callbackUrl: string;
  readonly scopes: string;
  readonly authorizationParams: Readonly<Record<string, string>>;
  readonly override: { readonly clientId?: string; readonly clientSecret?: string } | null;
  /** What was asked for; laid over what the provider tells. */
  readonly askedConfig: JsonObject;
  /** Verifier, secret of the request token: what the mode keeps. */
  readonly kept: JsonObject;
}
