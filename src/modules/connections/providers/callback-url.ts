import type { AuthMode, Provider } from './definition.ts';

/** The redirect URI for providers. */
export const callbackPath = '/oauth/callback';
/** The setup URL of apps. */
export const appSetupPath = '/app-auth/connect';

const withCallback = new Set<AuthMode>(['OAUTH1', 'OAUTH2', 'CUSTOM']);
const withInstallation = new Set<AuthMode>(['APP', 'CUSTOM']);

interface CallbackUrls {
  readonly callbackUrl: string | null;
  readonly appSetupUrl: string | null;
}

/** The addresses to enter for an app at the provider; null where its mode has none. */
export function callbackUrlsOf(
  { auth_mode: mode, installation }: Pick<Provider, 'auth_mode' | 'installation'>,
  publicUrl: string,
): CallbackUrls {
  const isOutbound = installation === 'outbound';
  return {
    callbackUrl: withCallback.has(mode) && !isOutbound ? publicUrl + callbackPath : null,
    appSetupUrl: withInstallation.has(mode) && !isOutbound ? publicUrl + appSetupPath : null,
  };
}
