import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
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

export type AuthorizationEvent =
  | { readonly type: 'AuthorizationBegun'; readonly authorization: Authorization }
  | { readonly type: 'AuthorizationTaken' }
  | { readonly type: 'AuthorizationAbandoned' };

export type AuthorizationCommand =
  | ({ readonly type: 'Begin'; readonly at: Instant } & Omit<
      Authorization,
      'createdAt' | 'expiresAt'
    >)
  /** By a callback: the first consumes it, any other is refused with `not_found`. */
  | { readonly type: 'Take'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const authorization: Decider<
  Authorization | null,
  AuthorizationCommand,
  AuthorizationEvent
> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Begin': {
        if (state !== null) throw new GatewayError('conflict');
        const { type: _type, at, ...input } = command;
        const begun = { ...input, createdAt: at, expiresAt: at + limits.authorizationMs };
        return [{ type: 'AuthorizationBegun', authorization: begun }];
      }
      case 'Take':
        if (state === null || command.at >= state.expiresAt) throw new GatewayError('not_found');
        return [{ type: 'AuthorizationTaken' }];
      case 'Tick':
        if (state === null || command.at < state.expiresAt) return [];
        return [{ type: 'AuthorizationAbandoned' }];
    }
  },

  evolve: (_state, event) => (event.type === 'AuthorizationBegun' ? event.authorization : null),
};
