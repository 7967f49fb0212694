import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import { tokensOf } from '#rules/interpolate.ts';
import type { Credentials } from '../../connections/state.ts';
import type { AuthMode, Provider } from '../../providers/definition.ts';
import { app } from './app.ts';
import { awsSigV4 } from './aws.ts';
import { custom } from './custom.ts';
import { mcpOauth2 } from './mcp-oauth2.ts';
import type { AuthModeRules, ObtainedCredentials } from './mode.ts';
import { oauth1, tba } from './oauth1.ts';
import { oauth2Cc } from './oauth2-cc.ts';
import { oauth2 } from './oauth2.ts';
import { appStore, jwt, signature } from './self-signed-modes.ts';
import { strict } from './shapes.ts';
import { basicHeader } from './token-request.ts';
import { bill, twoStep } from './two-step.ts';

const nothing: ObtainedCredentials = { credentials: null, expiresAt: null };

/** Stores and injects nothing. */
const none: AuthModeRules = {
  mode: 'NONE',
  integration: null,
  importShape: () => strict({ type: z.literal('NONE') }),
  import: async () => nothing,
  form: { shape: () => strict({}), submit: async () => nothing },
  redirect: null,
  renewal: null,
  isTested: false,
  authorization: () => null,
};

const fields = { username: z.string().max(1024), password: z.string().max(1024) };

/** User name and password, either of which may be empty (RFC 7617); they never expire. */
const basic: AuthModeRules = {
  mode: 'BASIC',
  integration: null,
  importShape: () => strict({ type: z.literal('BASIC'), ...fields }),
  import: async (input) => ({ credentials: input as Credentials, expiresAt: null }),
  form: {
    shape: () => strict(fields),
    submit: async (credentials) => ({
      credentials: { type: 'BASIC', ...credentials },
      expiresAt: null,
    }),
  },
  redirect: null,
  renewal: null,
  isTested: true,
  authorization: ({ provider, credentials }) =>
    placesThem(provider)
      ? null
      : basicHeader(textAt(credentials, 'username') ?? '', textAt(credentials, 'password') ?? ''),
};

/** Whether the headers of the provider hold name or password: it reads them there, not in `Authorization`. */
const placesThem = ({ proxy }: Provider): boolean =>
  Object.values(proxy?.headers ?? {}).some((template) =>
    tokensOf(template).some((token) => token === 'username' || token === 'password'),
  );

const apiKey = z.string().min(1).max(1024);

/** A key that the provider's headers or query place with `${apiKey}`; it never expires. */
const apiKeyMode: AuthModeRules = {
  mode: 'API_KEY',
  integration: null,
  importShape: () => strict({ type: z.literal('API_KEY'), apiKey }),
  import: async (input) => ({ credentials: input as Credentials, expiresAt: null }),
  form: {
    shape: () => strict({ apiKey }),
    submit: async (credentials) => ({
      credentials: { type: 'API_KEY', ...credentials },
      expiresAt: null,
    }),
  },
  redirect: null,
  renewal: null,
  isTested: true,
  authorization: () => null,
};

/** Every authentication mode (docs/reference/auth-modes.md#overview). */
export const authModeRules: Readonly<Record<AuthMode, AuthModeRules>> = {
  OAUTH1: oauth1,
  OAUTH2: oauth2,
  MCP_OAUTH2: mcpOauth2,
  AWS_SIGV4: awsSigV4,
  OAUTH2_CC: oauth2Cc,
  BASIC: basic,
  API_KEY: apiKeyMode,
  APP_STORE: appStore,
  CUSTOM: custom,
  APP: app,
  NONE: none,
  TBA: tba,
  JWT: jwt,
  BILL: bill,
  TWO_STEP: twoStep,
  SIGNATURE: signature,
};
