import type { AuthMode, Provider } from './definition.ts';

/** The redirect URI for providers. */
export const callbackPath = '/oauth/callback';
/** The setup URL of apps. */
export const appSetupPath = '/app-auth/connect';

/** Which addresses an app of the mode has at its provider. */
const addressesOf: Readonly<Record<AuthMode, readonly ('callback' | 'installation')[]>> = {
  OAUTH1: ['callback'],
  OAUTH2: ['callback'],
  MCP_OAUTH2: ['callback'],
  CUSTOM: ['callback', 'installation'],
  APP: ['installation'],
  AWS_SIGV4: [],
  OAUTH2_CC: [],
  BASIC: [],
  API_KEY: [],
  APP_STORE: [],
  NONE: [],
  TBA: [],
  BILL: [],
  SIGNATURE: [],
  JWT: [],
  TWO_STEP: [],
};

interface CallbackUrls {
  readonly callbackUrl: string | null;
  readonly appSetupUrl: string | null;
}

/** The addresses to enter for an app at the provider; null where its mode has none. */
export function callbackUrlsOf(
  { auth_mode: mode, installation }: Pick<Provider, 'auth_mode' | 'installation'>,
  publicUrl: string,
): CallbackUrls {
  const addresses = installation === 'outbound' ? [] : addressesOf[mode];
  return {
    callbackUrl: addresses.includes('callback') ? publicUrl + callbackPath : null,
    appSetupUrl: addresses.includes('installation') ? publicUrl + appSetupPath : null,
  };
}
