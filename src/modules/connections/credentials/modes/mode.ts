import type { z } from 'zod';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Credentials } from '../../connections/state.ts';
import type { IntegrationCredentials } from '../../integrations/integration.ts';
import type { AuthMode, Provider } from '../../providers/definition.ts';

/** Context of a mode: the decrypted integration, the configuration of the connection, the HTTP client. */
export interface ModeContext {
  readonly provider: Provider;
  /** Null where the mode needs none. */
  readonly client: IntegrationCredentials | null;
  readonly connectionConfig: JsonObject;
  readonly http: Pick<HttpClient, 'request'>;
  readonly clock: Clock;
}

/** Credentials as stored, with the configuration that came with them. */
export interface ObtainedCredentials {
  /** Null for the mode NONE, which has none. */
  readonly credentials: Credentials | null;
  /** Null: they do not expire, or the expiry is unknown. */
  readonly expiresAt: Instant | null;
  /** Merged over the configuration of the connection. */
  readonly connectionConfig?: JsonObject;
}

/** A call that needs an `Authorization` header. */
export interface AuthorizationCall {
  readonly method: string;
  /** With its query, as sent. */
  readonly url: URL;
  /** Pairs of a form body, which OAuth 1.0 signs (RFC 5849 section 3.4.1.3.1); empty otherwise. */
  readonly form: readonly (readonly [string, string])[];
  /** Empty without one, and where it streams. */
  readonly body: string | Uint8Array;
  /** Empty without a body. */
  readonly contentType: string;
  /** Of the caller, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly provider: Provider;
  readonly credentials: JsonObject;
  readonly connectionConfig: JsonObject;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly now: Instant;
  /** Unique to the request. */
  readonly nonce: string;
}

/** Parameters of the redirect to the provider. */
export interface RedirectContext extends ModeContext {
  readonly callbackUrl: string;
  readonly state: string;
  /** Of the integration or of the session. */
  readonly scopes: readonly string[];
  /** Merged over the provider's; null removes a parameter. */
  readonly authorizationParams: Readonly<Record<string, string | null>>;
  /** The person's own client in place of the integration's. */
  readonly override: {
    readonly clientId?: string | undefined;
    readonly clientSecret?: string | undefined;
  } | null;
}

/** What decides which scopes a redirect asks for. */
export type ScopesContext = Pick<RedirectContext, 'provider' | 'scopes' | 'authorizationParams'>;

/** Clients that authorization servers registered for the integration (RFC 7591). */
export interface RegisteredClients {
  /** Null: none yet. */
  find(issuer: string): Promise<JsonObject | null>;
  /**
   * Stores a client in place of the former one.
   * @returns the stored client, which is that of another start if that was first
   */
  keep(issuer: string, client: JsonObject): Promise<JsonObject>;
}

/** Input of a start, beyond that of its end. */
export interface RedirectStartContext extends RedirectContext {
  /** Of this service, as people and authorization servers reach it. */
  readonly publicUrl: string;
  readonly registeredClients: RegisteredClients;
  /** The client of a connection whose credentials were refused: its registration may be gone. */
  readonly refusedClientId: string | null;
}

export interface RedirectStart {
  readonly url: string;
  /** Input of `finish`: sealed with the flow, never shown. */
  readonly kept: JsonObject;
}

export interface RedirectFlow {
  /** @throws ProviderAuthError, GatewayError `missing_api_url` */
  start(context: RedirectStartContext): Promise<RedirectStart>;
  /** Those that `start` asks for, as templates; absent: the mode has none. */
  readonly scopes?: (context: ScopesContext) => readonly string[];
  /**
   * @param callback the query of the redirect back
   * @throws ProviderAuthError
   */
  finish(
    callback: Readonly<Record<string, string>>,
    kept: JsonObject,
    context: RedirectContext,
  ): Promise<ObtainedCredentials>;
}

/** The client that an integration of the mode has (docs/reference/auth-modes.md#overview). */
export interface IntegrationNeeds {
  readonly shape: z.ZodType<IntegrationFields>;
  readonly isRequired: boolean;
}

export interface IntegrationFields {
  readonly type: string;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly scopes?: string | undefined;
  readonly webhook_secret?: string | undefined;
  readonly app_id?: string | undefined;
  readonly app_link?: string | undefined;
  readonly private_key?: string | undefined;
}

/** A shape for one provider, with its own credential fields. */
export type ShapeOf = (provider: Provider) => z.ZodType<JsonObject>;

/** How a person enters credentials without a redirect (docs/reference/http.md#credential-forms). */
export interface CredentialForm {
  readonly shape: ShapeOf;
  /** @throws ProviderAuthError */
  submit(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials>;
}

/**
 * One authentication mode (docs/reference/auth-modes.md): what it needs from the integration and from the person,
 * how credentials are obtained, refreshed, put into a call and tested.
 */
export interface AuthModeRules {
  readonly mode: AuthMode;
  readonly integration: IntegrationNeeds | null;
  /** `credentials` of `POST /connections`. */
  readonly importShape: ShapeOf;
  /** @throws ProviderAuthError where the import requests a token from the provider */
  import(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials>;
  readonly form: CredentialForm | null;
  readonly redirect: RedirectFlow | null;
  /** Null: the mode's credentials never expire. */
  readonly renewal: Renewal | null;
  /** Whether the provider's verification endpoints are called before the credentials are stored. */
  readonly isTested: boolean;
  /** Value of the `Authorization` header; null when the mode sets none. */
  authorization(call: AuthorizationCall): string | null;
  /** Whether the signature covers a body of the type, which then has to be complete. Absent: it covers none. */
  signsBody?(provider: Provider, contentType: string): boolean;
  /** Headers of a signature that has more than one. */
  signature?(call: AuthorizationCall): Readonly<Record<string, string>>;
}

export interface Renewal {
  /** False where the credentials cannot be renewed (an OAuth 2 token without a refresh token). */
  isPossible(held: Credentials, provider: Provider): boolean;
  /**
   * Whether a refresh may invalidate the credentials that it presents, so that they are never presented twice (RFC 6749
   * section 6: a server may rotate refresh tokens).
   */
  spendsToken(held: Credentials, provider: Provider): boolean;
  /** @throws ProviderAuthError */
  renew(held: Credentials, context: ModeContext): Promise<ObtainedCredentials>;
}

export const bearer = (token: unknown): string | null =>
  typeof token === 'string' && token !== '' ? `Bearer ${token}` : null;
