import type { JSX } from 'preact';
import type { Provider } from '#client/index.ts';
import { TextArea, TextField } from '../../design/field.tsx';

export type AppField =
  | 'client_id'
  | 'client_secret'
  | 'scopes'
  | 'webhook_secret'
  | 'app_id'
  | 'app_link'
  | 'private_key';

/** What the provider gave the operator for an app there; a field that is absent is empty. */
export type App = Readonly<Partial<Record<AppField, string>>>;

const client: readonly AppField[] = ['client_id', 'client_secret'];
const optional: readonly AppField[] = ['scopes', 'webhook_secret'];
const installed: readonly AppField[] = ['app_id', 'app_link', 'private_key'];

/** The modes in which an integration has credentials of its own (docs/reference/auth-modes.md#overview). */
const fieldsOfModes: Readonly<Record<Provider['auth_mode'], readonly AppField[]>> = {
  OAUTH1: [...client, ...optional],
  OAUTH2: [...client, ...optional],
  TBA: [...client, ...optional],
  MCP_OAUTH2: [...client, 'scopes'],
  APP: installed,
  CUSTOM: [...client, ...installed],
  AWS_SIGV4: [],
  OAUTH2_CC: [],
  BASIC: [],
  API_KEY: [],
  APP_STORE: [],
  NONE: [],
  JWT: [],
  BILL: [],
  TWO_STEP: [],
  SIGNATURE: [],
};

export const fieldsOfMode = (mode: string): readonly AppField[] =>
  new Map<string, readonly AppField[]>(Object.entries(fieldsOfModes)).get(mode) ?? [];

/** The service registers a client by itself where the provider allows it. */
export const isAppOptional = (mode: string): boolean => mode === 'MCP_OAUTH2';

const isFieldOptional = (mode: string, field: AppField): boolean =>
  isAppOptional(mode) || optional.includes(field);

export const hasApp = (mode: string): boolean => fieldsOfMode(mode).length > 0;

/** Without the optional fields that are empty: those keep the value that they have. */
export const credentialsOf = (mode: string, app: App) => ({
  type: mode,
  ...Object.fromEntries(
    fieldsOfMode(mode)
      .map((field) => [field, app[field] ?? ''] as const)
      .filter(([field, value]) => value !== '' || !isFieldOptional(mode, field)),
  ),
});

interface FieldWords {
  readonly label: string;
  readonly hint: string;
  /** What is wrong with a value that the service refuses. */
  readonly problem: string;
}

const words: Readonly<Record<AppField, FieldWords>> = {
  client_id: {
    label: 'Client id',
    hint: 'Names your app. Some providers call it application id, app key or consumer key.',
    problem: 'Enter the client id as the provider shows it, at most 255 characters.',
  },
  client_secret: {
    label: 'Client secret',
    hint: 'Many providers show it once, when it is created. It is stored encrypted.',
    problem: 'Enter the client secret as the provider shows it.',
  },
  scopes: {
    label: 'Scopes',
    hint: 'Permissions of the app, separated by commas. Leave empty to keep them.',
    problem: 'A scope has no spaces, quotes or backslashes, and commas stand between two.',
  },
  webhook_secret: {
    label: 'Webhook secret',
    hint: 'Only if the provider signs its webhooks with a key of their own.',
    problem: 'The webhook secret has at most 4,096 characters.',
  },
  app_id: {
    label: 'App id',
    hint: 'The number of the app, on its settings page.',
    problem: 'Enter the id of the app, at most 255 characters.',
  },
  app_link: {
    label: 'Public page of the app',
    hint: 'Its address, on which people install the app.',
    problem: 'Enter the address of the page.',
  },
  private_key: {
    label: 'Private key',
    hint: 'The RSA key that the provider created for the app, from -----BEGIN to the last -----.',
    problem: 'This is no complete RSA key: paste all lines from -----BEGIN to the last -----.',
  },
};

/** What is wrong with fields of a body, by path: `credentials.client_id`. */
export type Problems = ReadonlyMap<string, string>;

const pathOfField = (field: AppField): string => `credentials.${field}`;

/** What is missing before the service is asked. */
export function missingIn(mode: string, app: App): Problems {
  const missing = fieldsOfMode(mode).filter(
    (field) => !isFieldOptional(mode, field) && (app[field] ?? '').trim() === '',
  );
  return new Map(missing.map((field) => [pathOfField(field), words[field].problem]));
}

/** The problems that the service names, those of an app in the words of its fields. */
export function inWordsOfFields(problems: Problems): Problems {
  const own = new Map<string, string>(
    Object.entries(words).map(([field, { problem }]) => [`credentials.${field}`, problem]),
  );
  return new Map([...problems].map(([path, message]) => [path, own.get(path) ?? message]));
}

interface AppFieldsProps {
  readonly mode: string;
  readonly app: App;
  readonly problems: Problems;
  /** Fields that are asked for elsewhere. */
  readonly without?: readonly AppField[];
  readonly onChange: (app: App) => void;
}

export function AppFields(props: AppFieldsProps): JSX.Element {
  const { mode, app, problems, without = [], onChange } = props;
  const fields = fieldsOfMode(mode).filter((field) => !without.includes(field));
  return (
    <>
      {fields.map((field) => {
        const { label, hint } = words[field];
        const shared = {
          label: isFieldOptional(mode, field) ? `${label} (optional)` : label,
          hint,
          problem: problems.get(pathOfField(field)),
          value: app[field] ?? '',
          onInput: (text: string): void => onChange({ ...app, [field]: text }),
        };
        if (field === 'private_key') return <TextArea key={field} {...shared} />;
        const type = field.endsWith('_secret') ? 'password' : 'text';
        return <TextField key={field} {...shared} type={type} />;
      })}
    </>
  );
}
