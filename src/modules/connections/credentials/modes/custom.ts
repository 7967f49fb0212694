import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import { isJsonObject, objectOf, type JsonObject } from '#kernel/stable-json.ts';
import type { Credentials } from '../../connections/state.ts';
import { installed } from './app.ts';
import { appWithClient, requireClient } from './client.ts';
import { installationToken } from './installation.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { finishOauth2, renewOauth2, scopesOfConsent, startOauth2 } from './oauth2.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { strict } from './shapes.ts';

const id = z.string().min(1).max(255);

/** A user's token and an app's installation in one connection (docs/reference/auth-modes.md#custom). */
export const custom: AuthModeRules = {
  mode: 'CUSTOM',
  integration: appWithClient,
  importShape: () => strict({ type: z.literal('CUSTOM'), app_id: id, installation_id: id }),
  import: async (input, context) => {
    const appId = textAt(input, 'app_id') ?? '';
    const installationId = textAt(input, 'installation_id') ?? '';
    return combined(await installationToken(context, { appId, installationId }), null);
  },
  form: null,
  redirect: { start: async (context) => startOauth2(context), scopes: scopesOfConsent, finish },
  renewal: {
    isPossible: (held) => isJsonObject(held['app']),
    spendsToken: ({ user }) => isJsonObject(user) && textAt(user, 'refresh_token') !== null,
    renew,
  },
  isTested: false,
  authorization: ({ credentials }) => {
    const { app, user } = credentials;
    const half = isJsonObject(app) ? app : objectOf(user);
    return bearer(half['access_token']);
  },
};

/** Without an installation, the user's half is stored and the connection is pending. */
async function finish(
  callback: Readonly<Record<string, string>>,
  kept: JsonObject,
  context: Parameters<typeof finishOauth2>[2],
): Promise<ObtainedCredentials> {
  const hasCode = callback['code'] !== undefined && callback['code'] !== '';
  const user = hasCode ? await finishOauth2(callback, kept, context) : null;
  if (callback['installation_id'] !== undefined) {
    return combined(await installed(callback, context), user);
  }
  if (user === null) return combined(await installed(callback, context), null);
  return {
    credentials: { type: 'CUSTOM', app: null, user: halfOf(user), raw: rawOf(user) },
    expiresAt: user.expiresAt,
    connectionConfig: { ...user.connectionConfig, pending: true },
  };
}

/**
 * The app's half, for a pending connection that has the user's half.
 * @throws ProviderAuthError
 */
export async function completed(
  held: Credentials,
  installationId: string,
  context: ModeContext,
): Promise<ObtainedCredentials> {
  const { appId = '' } = requireClient(context);
  const app = await installationToken(context, { appId, installationId });
  return combined(app, heldUser(held['user']));
}

/** Both halves at once. A failed user's half is dropped; a failed app's half is an error. */
async function renew(held: Credentials, context: ModeContext): Promise<ObtainedCredentials> {
  const { connectionConfig } = context;
  const appId = textAt(connectionConfig, 'app_id') ?? requireClient(context).appId ?? '';
  const installationId = textAt(connectionConfig, 'installation_id') ?? '';
  const [app, user] = await Promise.all([
    installationToken(context, { appId, installationId }),
    renewedUser(held['user'], context),
  ]);
  return combined(app, user);
}

function heldUser(
  user: unknown,
): (ObtainedCredentials & { readonly credentials: Credentials }) | null {
  if (!isJsonObject(user)) return null;
  const credentials: Credentials = { ...user, type: 'OAUTH2' };
  const end = textAt(credentials, 'expires_at');
  return { credentials, expiresAt: end === null ? null : Date.parse(end) };
}

async function renewedUser(
  user: unknown,
  context: ModeContext,
): Promise<ObtainedCredentials | null> {
  const held = heldUser(user);
  if (held === null || textAt(held.credentials, 'refresh_token') === null) return held;
  try {
    return await renewOauth2(held.credentials, context);
  } catch (error) {
    if (error instanceof ProviderAuthError) return null;
    throw error;
  }
}

/** The earlier expiry. */
function combined(app: ObtainedCredentials, user: ObtainedCredentials | null): ObtainedCredentials {
  const ends = [app.expiresAt, user?.expiresAt ?? null].filter((end) => end !== null);
  return {
    credentials: {
      type: 'CUSTOM',
      app: halfOf(app),
      user: user === null ? null : halfOf(user),
      raw: rawOf(app),
    },
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
    connectionConfig: { ...user?.connectionConfig, ...app.connectionConfig, pending: false },
  };
}

const halfOf = ({ credentials }: ObtainedCredentials): JsonObject => credentials as JsonObject;

const rawOf = ({ credentials }: ObtainedCredentials): JsonObject => {
  const raw = credentials?.['raw'];
  return objectOf(raw);
};
