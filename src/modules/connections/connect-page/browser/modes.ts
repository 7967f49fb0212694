import type { AuthMode } from '../../providers/definition.ts';
import type { KnownField } from './field.ts';

/** How the page connects an account of a mode (docs/reference/auth-modes.md#overview). */
export interface ModePage {
  /** Start of the endpoint that takes the form, before the integration's key; null = redirect to the provider. */
  readonly endpoint: string | null;
  /** Fields of the mode beside the provider's credential fields. */
  readonly fields: Readonly<Record<string, KnownField>>;
  /** Configuration of the connection that the mode always needs. */
  readonly params?: Readonly<Record<string, KnownField>>;
  /** Whether the definition's credential fields replace those of the mode. */
  readonly hasOwnFields?: true;
}

const longText = 10_000;
const redirect: ModePage = { endpoint: null, fields: {} };
const username: KnownField = { title: 'nameUsername', maxLength: 1024 };
const password: KnownField = { title: 'namePassword', isSecret: true, maxLength: 1024 };

/** Keyed by mode; the fields are those of the endpoints' bodies. */
export const modePages: Readonly<Record<AuthMode, ModePage>> = {
  OAUTH1: redirect,
  OAUTH2: redirect,
  CUSTOM: redirect,
  APP: redirect,
  OAUTH2_CC: {
    endpoint: '/oauth2/auth/',
    fields: {
      client_id: { title: 'nameClientId', maxLength: 255 },
      client_secret: { title: 'nameClientSecret', isSecret: true, maxLength: 2048 },
    },
  },
  API_KEY: {
    endpoint: '/api-auth/api-key/',
    fields: { apiKey: { title: 'nameApiKey', isSecret: true, maxLength: 1024 } },
  },
  BASIC: {
    endpoint: '/api-auth/basic/',
    // Either may be empty (RFC 7617).
    fields: { username, password: { ...password, isOptional: true } },
  },
  TBA: {
    endpoint: '/auth/tba/',
    fields: {
      token_id: { title: 'nameTokenId', isSecret: true, maxLength: 2048 },
      token_secret: { title: 'nameTokenSecret', isSecret: true, maxLength: 2048 },
    },
    params: { accountId: { title: 'nameAccountId', maxLength: 255 } },
  },
  JWT: { endpoint: '/auth/jwt/', fields: {}, hasOwnFields: true },
  BILL: {
    endpoint: '/auth/bill/',
    fields: {
      username,
      password,
      organization_id: { title: 'nameOrganizationId', maxLength: 1024 },
      dev_key: { title: 'nameDevKey', isSecret: true, maxLength: 1024 },
    },
  },
  TWO_STEP: { endpoint: '/auth/two-step/', fields: {}, hasOwnFields: true },
  SIGNATURE: { endpoint: '/auth/signature/', fields: { username, password } },
  NONE: { endpoint: '/auth/unauthenticated/', fields: {} },
  APP_STORE: {
    endpoint: '/app-store-auth/',
    fields: {
      privateKeyId: { title: 'namePrivateKeyId', maxLength: 255 },
      issuerId: { title: 'nameIssuerId', maxLength: 255 },
      privateKey: { title: 'namePrivateKey', isSecret: true, maxLength: longText },
      scope: { title: 'nameScopes', isOptional: true },
    },
  },
};

/** For clients that authenticate with a certificate or a signed assertion. */
export const clientCertificate: Readonly<Record<string, KnownField>> = {
  client_certificate: { title: 'nameClientCertificate', isSecret: true, maxLength: longText },
  client_private_key: { title: 'nameClientPrivateKey', isSecret: true, maxLength: longText },
};
export const clientAssertion: Readonly<Record<string, KnownField>> = {
  client_private_key: { title: 'nameClientPrivateKey', isSecret: true, maxLength: longText },
};

/** An app that is installed at the provider: no input here. */
export const outboundEndpoint = '/auth/oauth-outbound/';
