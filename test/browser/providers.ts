import type { FieldSchema, Provider } from '#modules/connections/providers/definition.ts';

const field = (
  title: string,
  description: string,
  more: Partial<FieldSchema> = {},
): FieldSchema => ({
  type: 'string',
  title,
  description,
  ...more,
});
const common = { categories: ['crm'], docs: 'https://docs.example/connect' };

/** A key, and the name of an account in its address. */
export const keyProvider: Provider = {
  ...common,
  name: 'harbour',
  display_name: 'Harbour CRM',
  auth_mode: 'API_KEY',
  connection_config: {
    region: field('Region', 'Where the account is kept.', { enum: ['eu', 'us'] }),
    account: field('Account', 'The name in the address of the account.', {
      pattern: '^[a-z0-9-]+$',
      example: 'acme-inc',
      suffix: '.harbour.example',
    }),
  },
  credentials: {
    apiKey: field('Secret key', 'Made in the settings, under Developers.', { secret: true }),
  },
  proxy: {
    base_url: 'https://${connectionConfig.account}.harbour.example/${connectionConfig.region}',
    headers: { authorization: 'Bearer ${apiKey}' },
    verification: { endpoints: ['/me'] },
  },
};

export const loginProvider: Provider = {
  ...common,
  name: 'ledger',
  display_name: 'Ledger',
  auth_mode: 'BASIC',
  proxy: { base_url: 'https://ledger.example', verification: { endpoints: ['/me'] } },
};

export const redirectProvider: Provider = {
  ...common,
  name: 'beacon',
  display_name: 'Beacon',
  auth_mode: 'OAUTH2',
  authorization_url: 'https://beacon.example/authorize',
  token_url: 'https://beacon.example/token',
  default_scopes: ['read'],
  proxy: { base_url: 'https://beacon.example/api' },
};

/** Some scopes are described in two languages, some in English, some not at all. */
export const scopedProvider: Provider = {
  ...redirectProvider,
  name: 'lantern',
  display_name: 'Lantern',
  default_scopes: [
    'contacts.read',
    'contacts.write',
    'https://lantern.example/auth/calendar.events.readonly',
    'files.read',
    'files.write',
    'mail.send',
    'profile',
    'offline_access',
  ],
  scope_descriptions: {
    'contacts.read': { en: 'Reads contacts.', de: 'Liest Kontakte.' },
    'contacts.write': 'Creates, changes and deletes contacts.',
    'https://lantern.example/auth/calendar.events.readonly': 'Reads events of all calendars.',
    'mail.send': 'Sends mail in your name.',
    offline_access: 'Keeps access while you are away.',
  },
};

export const openProvider: Provider = {
  ...common,
  name: 'weather',
  display_name: 'Open weather',
  auth_mode: 'NONE',
  proxy: { base_url: 'https://weather.example' },
};

export const storeProvider: Provider = {
  ...common,
  name: 'store',
  display_name: 'App store',
  auth_mode: 'APP_STORE',
  proxy: { base_url: 'https://store.example' },
};
