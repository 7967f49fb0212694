import type { JSX } from 'preact';
import { TextArea, TextField } from '../../design/field.tsx';

type Field = 'client_id' | 'client_secret' | 'app_id' | 'app_link' | 'private_key';

/** What the provider gave the operator for an app there; a field that is absent is empty. */
export type App = Readonly<Partial<Record<Field, string>>>;

const client: readonly Field[] = ['client_id', 'client_secret'];
const installed: readonly Field[] = ['app_id', 'app_link', 'private_key'];

/** The modes in which an integration has credentials of its own (docs/reference/auth-modes.md#overview). */
const fieldsOfModes: ReadonlyMap<string, readonly Field[]> = new Map([
  ['OAUTH1', client],
  ['OAUTH2', client],
  ['TBA', client],
  ['APP', installed],
  ['CUSTOM', [...client, ...installed]],
]);

export const hasApp = (mode: string): boolean => fieldsOfModes.has(mode);

export const credentialsOf = (mode: string, app: App) => ({
  type: mode,
  ...Object.fromEntries((fieldsOfModes.get(mode) ?? []).map((field) => [field, app[field] ?? ''])),
});

const labels: Readonly<Record<Field, string>> = {
  client_id: 'Client id',
  client_secret: 'Client secret',
  app_id: 'App id',
  app_link: 'Link to the page that installs the app',
  private_key: 'Private key',
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
          hint="PEM, from -----BEGIN RSA PRIVATE KEY----- on"
          value={value}
          onInput={onInput}
        />
      ) : (
        <TextField
          key={field}
          label={labels[field]}
          type={field === 'client_secret' ? 'password' : 'text'}
          value={value}
          isRequired
          onInput={onInput}
        />
      );
    })}
  </>
);
