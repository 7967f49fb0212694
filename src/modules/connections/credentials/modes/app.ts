import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Provider } from '../../providers/definition.ts';
import { app as appNeeds, requireClient } from './client.ts';
import { installationToken } from './installation.ts';
import { bearer, type AuthModeRules, type RedirectContext, type RedirectStart } from './mode.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { strict } from './shapes.ts';
import { addressOf, tokenValues } from './token-request.ts';

const id = z.string().min(1).max(255);

/**
 * An app installed at the provider: its JWT is exchanged for tokens of the installation
 * (docs/reference/auth-modes.md#app).
 */
export const app: AuthModeRules = {
  mode: 'APP',
  integration: appNeeds,
  importShape: () => strict({ type: z.literal('APP'), app_id: id, installation_id: id }),
  import: (input, context) =>
    installationToken(context, {
      appId: textAt(input, 'app_id') ?? '',
      installationId: textAt(input, 'installation_id') ?? '',
    }),
  form: null,
  redirect: {
    start: async (context) => installStart(context),
    finish: (callback, _kept, context) => installed(callback, context),
  },
  renewal: {
    isPossible: () => true,
    spendsToken: () => false,
    renew: (_held, context) => {
      const { connectionConfig } = context;
      const installationId = textAt(connectionConfig, 'installation_id') ?? '';
      return installationToken(context, { appId: appIdOf(context), installationId });
    },
  },
  isTested: false,
  authorization: ({ credentials }) => bearer(credentials['access_token']),
};

const appIdOf = (
  context: Pick<RedirectContext, 'connectionConfig' | 'client' | 'provider'>,
): string => textAt(context.connectionConfig, 'app_id') ?? requireClient(context).appId ?? '';

/** The public page of the app, with only the state as a parameter. */
export function installStart(context: RedirectContext): RedirectStart {
  const { provider, connectionConfig } = context;
  const appPublicLink = requireClient(context).appLink ?? '';
  const config: JsonObject = { ...connectionConfig, appPublicLink };
  const values = tokenValues({ ...context, connectionConfig: config }, null);
  const url = new URL(addressOf(provider, 'authorization_url', provider.authorization_url, values));
  url.searchParams.set('state', context.state);
  return { url: url.href, kept: {} };
}

/** @throws ProviderAuthError the person only requested the installation, or the callback has none */
export async function installed(
  callback: Readonly<Record<string, string>>,
  context: RedirectContext,
) {
  const installationId = callback['installation_id'];
  if (callback['setup_action'] === 'request' || installationId === undefined) {
    throw notInstalled(context.provider);
  }
  return installationToken(context, { appId: appIdOf(context), installationId });
}

function notInstalled(provider: Provider): ProviderAuthError {
  return new ProviderAuthError({
    code: 'wrong_auth_mode',
    message: `The app of the provider "${provider.name}" was not installed: an owner must approve it first.`,
    isDefinitive: true,
    providerStatus: null,
    providerCode: null,
  });
}
