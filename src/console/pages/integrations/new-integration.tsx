import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Input } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { TextField } from '../../design/field.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { Page } from '../../shell/page.tsx';
import { AppFields, credentialsOf, hasApp, type App } from './app-fields.tsx';

export function NewIntegration(): JSX.Element {
  const { path } = useAccess();
  return (
    <Page title="Add an integration" crumbs={[['Integrations', path('/integrations')]]}>
      <NewIntegrationForm />
    </Page>
  );
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
  const [app, setApp] = useState<App>({});
  const providers = useRead('GET /providers', {});
  const chosen = providers.data?.data.find((one) => one.name === provider);
  const mode = chosen?.auth_mode ?? '';
  const create = useCreate({
    provider,
    unique_key: name === '' ? provider : name,
    ...(hasApp(mode) ? { credentials: credentialsOf(mode, app) } : {}),
  });
  return (
    <ChangeForm change={create} verb="Add the integration" isCard>
      <TextField
        label="Provider"
        hint={chosen === undefined ? 'Of the catalog' : `${chosen.display_name}, ${mode}`}
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
      {hasApp(mode) && <AppFields mode={mode} app={app} onChange={setApp} />}
    </ChangeForm>
  );
}
