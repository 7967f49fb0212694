import type { z } from 'zod';
import type { Clock, Instant } from '../../../../kernel/time.ts';
import type { JsonObject } from '../../../../kernel/stable-json.ts';
import type { HttpClient } from '../../../../ports/http-client.ts';
import type { Credentials } from '../../connections/state.ts';
import type { IntegrationCredentials } from '../../integrations/state.ts';
import type { AuthMode, Provider } from '../../providers/definition.ts';

/** What a mode works with: the integration opened, the configuration of the connection, the way out. */
export interface ModeContext {
  readonly provider: Provider;
  /** Null where the mode needs none. */
  readonly client: IntegrationCredentials | null;
  readonly connectionConfig: JsonObject;
  readonly http: Pick<HttpClient, 'request'>;
  readonly clock: Clock;
}

/** Credentials as they will be stored, and what was learnt beside them. */
export interface Obtained {
  /** Null for the mode NONE, which has none. */
  readonly credentials: Credentials | null;
  /** Null: they do not expire, or nobody said when. */
  readonly expiresAt: Instant | null;
  /** Laid over the configuration of the connection. */
  readonly connectionConfig?: JsonObject;
}

/** A call whose `Authorization` header is asked for. */
export interface AuthorizationCall {
  readonly method: string;
  /** With its query, as it will be sent. */
  readonly url: URL;
  /** Pairs of a form body, which OAuth 1.0 signs (RFC 5849 section 3.4.1.3.1); empty otherwise. */
  readonly form: readonly (readonly [string, string])[];
  readonly provider: Provider;
  readonly credentials: JsonObject;
  readonly connectionConfig: JsonObject;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly now: Instant;
  /** Unique to the request. */
  readonly nonce: string;
}

/** What is asked of the person's browser. */
export interface RedirectContext extends ModeContext {
  readonly callbackUrl: string;
  readonly state: string;
  /** Comma list, of the integration or of the session. */
  readonly scopes: string;
  /** Laid over the provider's; null removes one. */
  readonly authorizationParams: Readonly<Record<string, string | null>>;
  /** The person's own client in place of the integration's. */
  readonly override: {
    readonly clientId?: string | undefined;
    readonly clientSecret?: string | undefined;
  } | null;
}

export interface RedirectStart {
  readonly url: string;
  /** What `finish` needs: sealed with the flow, never shown. */
  readonly kept: JsonObject;
}

export interface RedirectFlow {
  /** @throws ProviderAuthError, GatewayError `missing_api_url` */
  start(context: RedirectContext): Promise<RedirectStart>;
  /**
   * @param callback the query of the redirect back
   * @throws ProviderAuthError
   */
  finish(
    callback: Readonly<Record<string, string>>,
    kept: JsonObject,
    context: RedirectContext,
  ): Promise<Obtained>;
}

/** What an integration of the mode holds (docs/reference/auth-modes.md#overview). */
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

/** A shape made for one provider: its own credential fields belong to it. */
export type ShapeOf = (provider: Provider) => z.ZodType<JsonObject>;

/** How a person gives credentials without a redirect (docs/reference/http.md#credential-forms). */
export interface CredentialForm {
  readonly shape: ShapeOf;
  /** @throws ProviderAuthError */
  submit(input: JsonObject, context: ModeContext): Promise<Obtained>;
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
  /** @throws ProviderAuthError where importing asks the provider for a token */
  import(input: JsonObject, context: ModeContext): Promise<Obtained>;
  readonly form: CredentialForm | null;
  readonly redirect: RedirectFlow | null;
  /** Null: the mode's credentials never expire. */
  readonly renewal: Renewal | null;
  /** Whether the provider's verification endpoints are asked before the credentials are stored. */
  readonly isTested: boolean;
  /** Value of the `Authorization` header; null when the mode sets none. */
  authorization(call: AuthorizationCall): string | null;
}

export interface Renewal {
  /** False where what is held cannot be renewed (an OAuth 2 token without a refresh token). */
  isPossible(held: Credentials, provider: Provider): boolean;
  /**
   * Whether presenting what is held may use it up, so that it is never presented twice (RFC 6749 section 6: a
   * server may rotate refresh tokens).
   */
  spendsToken(held: Credentials, provider: Provider): boolean;
  /** @throws ProviderAuthError */
  renew(held: Credentials, context: ModeContext): Promise<Obtained>;
}

export const bearer = (token: unknown): string | null =>
  typeof token === 'string' && token !== '' ? `Bearer ${token}` : null;
