import type { Provider } from '#client/index.ts';

/** What people call each authentication mode (docs/reference/auth-modes.md#overview). */
export const modeLabels: Readonly<Record<Provider['auth_mode'], string>> = {
  OAUTH2: 'OAuth 2.0',
  MCP_OAUTH2: 'OAuth of an MCP server',
  AWS_SIGV4: 'AWS signature',
  OAUTH1: 'OAuth 1.0a',
  OAUTH2_CC: 'OAuth client credentials',
  API_KEY: 'API key',
  BASIC: 'User name and password',
  APP: 'Installed app',
  CUSTOM: 'Installed app with OAuth',
  APP_STORE: 'App Store key',
  TBA: 'Token-based authentication',
  JWT: 'Signed token',
  SIGNATURE: 'Signed request',
  TWO_STEP: 'Login that yields a token',
  BILL: 'Login that yields a session',
  NONE: 'No credentials',
};

const abbreviations = new Set(['ai', 'ats', 'cms', 'crm', 'erp', 'hr']);

/** A category of a definition, such as `knowledge-base`, as text. */
export function categoryLabel(category: string): string {
  if (abbreviations.has(category)) return category.toUpperCase();
  const isCompound = category.startsWith('e-');
  const words = isCompound ? category : category.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The address names the gateway's own host; on the same origin its path is enough. */
export function logoPath(address: string): string {
  try {
    return new URL(address, location.href).pathname;
  } catch {
    return address;
  }
}
