import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Input } from '../../../client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { TextField } from '../../design/field.tsx';
import { useAccess } from '../../session/context.tsx';
import { Page } from '../../shell/page.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';

/** The modes in which an app at the provider has an id and a secret. */
const modesWithApp = new Set(['OAUTH1', 'OAUTH2', 'TBA']);

export function NewIntegration(): JSX.Element {
  const { path } = useAccess();
  return (
    <Page title="Add an integration" crumbs={[['Integrations', path('/integrations')]]}>
      <NewIntegrationForm />
    </Page>
  );
}

interface App {
  readonly id: string;
  readonly secret: string;
}

function useCreate(body: Input<'POST /integrations'>['body']) {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const { unique_key: key } = body;
  return useChange((client) => client.request('POST /integrations', { body }), {
    done: `${key} was added`,
    onDone: () => navigate(path(pathOf('integrations', key))),
    showsFailure: true,
  });
}

function NewIntegrationForm(): JSX.Element {
  const [provider, setProvider] = useState('');
  const [name, setName] = useState('');
  const [app, setApp] = useState<App>({ id: '', secret: '' });
  const providers = useRead('GET /providers', {});
  const chosen = providers.data?.data.find((one) => one.name === provider);
  const mode = chosen?.auth_mode;
  const hasApp = mode !== undefined && modesWithApp.has(mode);
  const create = useCreate({
    provider,
    unique_key: name === '' ? provider : name,
    ...(hasApp
      ? { credentials: { type: mode, client_id: app.id, client_secret: app.secret } }
      : {}),
  });
  return (
    <ChangeForm change={create} verb="Add the integration" isCard>
      <TextField
        label="Provider"
        hint={chosen === undefined ? 'Of the catalog' : `${chosen.display_name}, ${mode ?? ''}`}
        value={provider}
        isRequired
        suggestions={(providers.data?.data ?? []).map((one) => one.name)}
        onInput={setProvider}
      />
      <TextField
        label="Key"
        hint="Your own name of the integration in requests; empty: that of the provider"
        placeholder={provider}
        value={name}
        onInput={setName}
      />
      {hasApp && <AppFields app={app} onChange={setApp} />}
    </ChangeForm>
  );
}

interface AppFieldsProps {
  readonly app: App;
  readonly onChange: (app: App) => void;
}

const AppFields = ({ app, onChange }: AppFieldsProps): JSX.Element => (
  <>
    <TextField
      label="Client id"
      value={app.id}
      isRequired
      onInput={(id) => onChange({ ...app, id })}
    />
    <TextField
      label="Client secret"
      type="password"
      value={app.secret}
      isRequired
      onInput={(secret) => onChange({ ...app, secret })}
    />
  </>
);
