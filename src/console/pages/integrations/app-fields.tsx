import type { JSX } from 'preact';
import { TextArea, TextField } from '../../design/field.tsx';

type Field =
  | 'client_id'
  | 'client_secret'
  | 'scopes'
  | 'webhook_secret'
  | 'app_id'
  | 'app_link'
  | 'private_key';

/** What the provider gave the operator for an app there; a field that is absent is empty. */
export type App = Readonly<Partial<Record<Field, string>>>;

const client: readonly Field[] = ['client_id', 'client_secret'];
const optional: readonly Field[] = ['scopes', 'webhook_secret'];
const installed: readonly Field[] = ['app_id', 'app_link', 'private_key'];

/** The modes in which an integration has credentials of its own (docs/reference/auth-modes.md#overview). */
const fieldsOfModes: ReadonlyMap<string, readonly Field[]> = new Map([
  ['OAUTH1', [...client, ...optional]],
  ['OAUTH2', [...client, ...optional]],
  ['TBA', [...client, ...optional]],
  ['APP', installed],
  ['CUSTOM', [...client, ...installed]],
]);

export const hasApp = (mode: string): boolean => fieldsOfModes.has(mode);

/** Without the optional fields that are empty: those keep the value that they have. */
export const credentialsOf = (mode: string, app: App) => ({
  type: mode,
  ...Object.fromEntries(
    (fieldsOfModes.get(mode) ?? [])
      .map((field) => [field, app[field] ?? ''] as const)
      .filter(([field, value]) => value !== '' || !optional.includes(field)),
  ),
});

const labels: Readonly<Record<Field, string>> = {
  client_id: 'Client id',
  client_secret: 'Client secret',
  scopes: 'Scopes',
  webhook_secret: 'Webhook secret',
  app_id: 'App id',
  app_link: 'Link to the page that installs the app',
  private_key: 'Private key',
};

const hints: Readonly<Partial<Record<Field, string>>> = {
  scopes: 'With commas between them; empty: as before, or those of the provider',
  webhook_secret: 'With which the provider signs its webhooks; empty: as before',
  private_key: 'RSA key in PEM, from -----BEGIN to the last -----',
};

interface AppFieldsProps {
  readonly mode: string;
  readonly app: App;
  readonly onChange: (app: App) => void;
}

export const AppFields = ({ mode, app, onChange }: AppFieldsProps): JSX.Element => (
  <>
    {fieldsOfModes.get(mode)?.map((field) => {
      const value = app[field] ?? '';
      const onInput = (text: string): void => onChange({ ...app, [field]: text });
      return field === 'private_key' ? (
        <TextArea
          key={field}
          label={labels[field]}
          hint={hints[field]}
          value={value}
          onInput={onInput}
        />
      ) : (
        <TextField
          key={field}
          label={labels[field]}
          hint={hints[field]}
          type={field.endsWith('_secret') ? 'password' : 'text'}
          value={value}
          isRequired={!optional.includes(field)}
          onInput={onInput}
        />
      );
    })}
  </>
);
