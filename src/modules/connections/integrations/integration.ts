import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';

export interface IntegrationCredentials {
  readonly type: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: string;
  readonly webhookSecret?: string | null;
  readonly appId?: string;
  readonly appLink?: string;
  readonly privateKey?: string;
}

/** Of an account at a provider: so many requests within any span of so many seconds. */
export type RateLimit = {
  readonly requests: number;
  readonly seconds: number;
  /** Whose requests count together: of all connections, or of each by itself. */
  readonly per: 'integration' | 'connection';
};

/** What an integration sets: a limit of its own, none, or that of the catalog. */
export type RateLimitSetting = RateLimit | 'none' | 'provider';

/** Scope = environment uid; path [environment uid, unique key]. */
export interface Integration {
  readonly uid: string;
  readonly environmentUid: string;
  readonly uniqueKey: string;
  readonly displayName: string;
  readonly provider: string;
  readonly forwardWebhooks: boolean;
  /** Whether the provider is asked to end the access of deleted connections. Absent: it is not. */
  readonly revokeOnDisconnect?: boolean;
  /** Absent: `provider`. */
  readonly rateLimit?: RateLimitSetting;
  readonly credentials: Sealed<IntegrationCredentials> | null;
  readonly integrationConfig: Readonly<Record<string, string>>;
  readonly custom: Readonly<Record<string, string>>;
  /** By keyed hash of the issuer that registered them (RFC 7591); the oldest first. Absent: none. */
  readonly registeredClients?: Readonly<Record<string, Sealed<JsonObject>>>;
  readonly isDeleting: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** Changes of an integration other than a rename. */
export type IntegrationSettings = Pick<
  Integration,
  | 'displayName'
  | 'forwardWebhooks'
  | 'revokeOnDisconnect'
  | 'rateLimit'
  | 'credentials'
  | 'integrationConfig'
  | 'custom'
>;

export type IntegrationEvent =
  | { readonly type: 'IntegrationCreated'; readonly integration: Integration }
  | {
      readonly type: 'IntegrationChanged';
      readonly changes: Partial<IntegrationSettings & Pick<Integration, 'registeredClients'>>;
      readonly at: Instant;
    }
  /** The key was renamed. */
  | { readonly type: 'IntegrationRenamed' }
  | { readonly type: 'IntegrationDeletionBegun'; readonly at: Instant }
  | { readonly type: 'IntegrationDeleted' };

export type CreateIntegration = {
  readonly type: 'Create';
  readonly at: Instant;
} & Omit<Integration, 'registeredClients' | 'isDeleting' | 'createdAt' | 'updatedAt'>;

export type UpdateIntegration = {
  readonly type: 'Update';
  readonly changes: Partial<IntegrationSettings>;
  /** When sent: refused with `conflict` unless these are still the stored credentials. */
  readonly ifCredentials?: Sealed<IntegrationCredentials> | null;
  readonly at: Instant;
};

/** Stores a client unless another than `former` is stored: the first of two registrations is kept. */
export type RegisterClient = {
  readonly type: 'RegisterClient';
  /** Keyed hash of the issuer. */
  readonly key: string;
  readonly client: Sealed<JsonObject>;
  readonly former: Sealed<JsonObject> | null;
  readonly at: Instant;
};

/** A rename is `Leave` at the old path and `Arrive` at the new one, decided together. */
export type IntegrationCommand =
  | CreateIntegration
  | UpdateIntegration
  | RegisterClient
  | { readonly type: 'Leave'; readonly at: Instant }
  | { readonly type: 'Arrive'; readonly integration: Integration; readonly at: Instant }
  | { readonly type: 'MarkDeleting'; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const integration: Decider<Integration | null, IntegrationCommand, IntegrationEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Create':
        return created(command, state);
      case 'Arrive': {
        if (state !== null) throw keyTaken(command.integration.uniqueKey);
        const arrived = { ...command.integration, updatedAt: command.at };
        return [{ type: 'IntegrationCreated', integration: arrived }];
      }
      case 'Update':
        return changed(command, live(state));
      case 'RegisterClient':
        return registered(command, live(state));
      case 'Leave':
        live(state);
        return [{ type: 'IntegrationRenamed' }];
      case 'MarkDeleting':
        if (state === null) throw unknown();
        return state.isDeleting ? [] : [{ type: 'IntegrationDeletionBegun', at: command.at }];
      case 'Delete':
        return state === null ? [] : [{ type: 'IntegrationDeleted' }];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'IntegrationCreated':
        return event.integration;
      case 'IntegrationChanged':
        return state === null ? null : { ...state, ...event.changes, updatedAt: event.at };
      case 'IntegrationDeletionBegun':
        return state === null ? null : { ...state, isDeleting: true, updatedAt: event.at };
      case 'IntegrationRenamed':
      case 'IntegrationDeleted':
        return null;
    }
  },
};

function created(command: CreateIntegration, state: Integration | null): IntegrationEvent[] {
  if (state !== null) throw keyTaken(command.uniqueKey);
  const { type: _type, at, uid, environmentUid, uniqueKey, displayName, provider } = command;
  const { forwardWebhooks, credentials, integrationConfig, custom } = command;
  const named = { uid, environmentUid, uniqueKey, displayName, provider };
  const { revokeOnDisconnect, rateLimit } = command;
  const revoking = revokeOnDisconnect === true ? { revokeOnDisconnect } : {};
  const limiting = rateLimit === undefined ? {} : { rateLimit };
  const set = { forwardWebhooks, ...revoking, ...limiting, credentials, integrationConfig, custom };
  return [
    {
      type: 'IntegrationCreated',
      integration: { ...named, ...set, isDeleting: false, createdAt: at, updatedAt: at },
    },
  ];
}

function changed(command: UpdateIntegration, state: Integration): IntegrationEvent[] {
  const expected = command.ifCredentials;
  if (expected !== undefined && expected !== state.credentials) {
    throw new GatewayError('conflict', { message: 'The credentials were changed concurrently.' });
  }
  const next = { ...state, ...command.changes };
  if (stableJson(next) === stableJson(state as unknown as Json)) return [];
  return [{ type: 'IntegrationChanged', changes: command.changes, at: command.at }];
}

function registered(command: RegisterClient, state: Integration): IntegrationEvent[] {
  const { key, client, former } = command;
  const existing = state.registeredClients?.[key] ?? null;
  if (existing !== former) return [];
  const others = Object.entries(state.registeredClients ?? {}).filter(([name]) => name !== key);
  // The oldest ones make room: their connections have their own copy.
  const kept = others.slice(-(limits.registeredClientsMax - 1));
  const registeredClients = Object.fromEntries([...kept, [key, client]]);
  return [{ type: 'IntegrationChanged', changes: { registeredClients }, at: command.at }];
}

function live(state: Integration | null): Integration {
  if (state === null || state.isDeleting) throw unknown();
  return state;
}

const unknown = (): GatewayError =>
  new GatewayError('not_found', { message: 'The integration does not exist.' });

/** The path is the field's name (docs/reference/http.md#providers-and-integrations). */
const keyTaken = (uniqueKey: string): GatewayError =>
  new GatewayError('invalid_body', {
    message: `The unique key "${uniqueKey}" is taken.`,
    errors: [{ code: 'custom', message: 'The unique key is taken.', path: ['unique_key'] }],
  });
