import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
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

export type ConnectSessionEvent =
  | { readonly type: 'SessionCreated'; readonly session: ConnectSession }
  | { readonly type: 'SessionEnded' };

export type ConnectSessionCommand =
  | ({ readonly type: 'Create'; readonly at: Instant } & Omit<
      ConnectSession,
      'createdAt' | 'expiresAt'
    >)
  | { readonly type: 'End'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const connectSession: Decider<
  ConnectSession | null,
  ConnectSessionCommand,
  ConnectSessionEvent
> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Create': {
        if (state !== null) throw new GatewayError('conflict');
        const { type: _type, at, ...input } = command;
        const session = { ...input, createdAt: at, expiresAt: at + limits.connectSessionMs };
        return [{ type: 'SessionCreated', session }];
      }
      case 'End':
        return state === null ? [] : [{ type: 'SessionEnded' }];
      case 'Tick':
        return state === null || command.at < state.expiresAt ? [] : [{ type: 'SessionEnded' }];
    }
  },

  evolve: (_state, event) => (event.type === 'SessionCreated' ? event.session : null),
};
