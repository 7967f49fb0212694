import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Check, TextField } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Empty, FailureNotice } from '../../design/states.tsx';
import { LinkTabs } from '../../design/tabs.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { AppCredentials } from './app-credentials.tsx';
import { Functions } from './functions.tsx';

interface IntegrationTab {
  readonly id: string;
  readonly label: string;
  readonly scope: string;
  readonly content: (integration: string) => ComponentChildren;
}

const tabs: readonly IntegrationTab[] = [
  {
    id: 'settings',
    label: 'Settings',
    scope: 'environment:integrations:read',
    content: (integration) => <Settings integration={integration} />,
  },
  {
    id: 'functions',
    label: 'Functions',
    scope: 'environment:functions:list',
    content: (integration) => <Functions integration={integration} />,
  },
  {
    id: 'webhook',
    label: 'Webhook URL',
    scope: 'environment:integrations:read',
    content: (integration) => <WebhookUrl integration={integration} />,
  },
];

export function Integration(): JSX.Element {
  const { can, path } = useAccess();
  const [, integration = '', part] = useParts();
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = offered.find(({ id }) => id === part) ?? offered[0];
  const here = path(pathOf('integrations', integration));
  return (
    <Page title={integration} crumbs={[['Integrations', path('/integrations')]]}>
      <LinkTabs
        label="Integration"
        current={current?.id ?? ''}
        tabs={offered.map(({ id, label }) => ({ id, label, href: `${here}/${id}` }))}
      />
      {current?.content(integration)}
    </Page>
  );
}

interface PartProps {
  readonly integration: string;
}

const useIntegration = (integration: string) =>
  useRead('GET /integrations/{uniqueKey}', {
    params: { uniqueKey: integration },
    query: { include: ['webhook'] },
  });

function Settings({ integration }: PartProps): JSX.Element {
  const { can } = useAccess();
  const query = useIntegration(integration);
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <div class="stack">
          <div class="card padded">
            <KeyValues
              rows={[
                ['Provider', data.provider],
                [
                  'Key',
                  <span key="key" class="mono">
                    {data.unique_key}
                  </span>,
                ],
                ['Created', <Time key="created" at={data.created_at} />],
                ['Updated', <Time key="updated" at={data.updated_at} />],
              ]}
            />
          </div>
          {can('environment:integrations:update') && (
            <SettingsForm
              integration={integration}
              name={data.display_name}
              isForwarding={data.forward_webhooks}
            />
          )}
          <AppCredentials integration={integration} provider={data.provider} />
          {can('environment:integrations:delete') && <Deletion integration={integration} />}
        </div>
      )}
    </LoadedState>
  );
}

interface SettingsFormProps extends PartProps {
  readonly name: string;
  readonly isForwarding: boolean;
}

function SettingsForm({ integration, name, isForwarding }: SettingsFormProps): JSX.Element {
  const [text, setText] = useState(name);
  const [forwards, setForwards] = useState(isForwarding);
  const save = useChange(
    (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey: integration },
        body: { display_name: text, forward_webhooks: forwards },
      }),
    { done: 'The settings were saved', showsFailure: true },
  );
  return (
    <div class="card padded stack">
      <TextField label="Display name" value={text} onInput={setText} />
      <Check
        label="Forward webhooks of the provider to the application"
        isChecked={forwards}
        onChange={setForwards}
      />
      {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
      <div>
        <Button
          tone="primary"
          isDisabled={text === name && forwards === isForwarding}
          isBusy={save.isPending}
          onPress={() => save.mutate()}
        >
          Save the settings
        </Button>
      </div>
    </div>
  );
}

function WebhookUrl({ integration }: PartProps): JSX.Element {
  const query = useIntegration(integration);
  return (
    <LoadedState query={query}>
      {({ data: { webhook_url: url } }) =>
        url === null || url === undefined ? (
          <Empty title="No webhook URL">The provider has no webhooks that svc understands.</Empty>
        ) : (
          <div class="card padded stack">
            <p>Enter this address in the settings of your app at the provider:</p>
            <div class="row">
              <code class="grow">{url}</code>
              <CopyButton text={url} label="Copy the webhook URL" />
            </div>
          </div>
        )
      }
    </LoadedState>
  );
}

function Deletion({ integration }: PartProps): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) =>
      client.request('DELETE /integrations/{uniqueKey}', { params: { uniqueKey: integration } }),
    {
      done: `${integration} was deleted`,
      onDone: () => navigate(path('/integrations')),
      showsFailure: true,
    },
  );
  return (
    <div class="card padded row spread">
      <p>A deleted integration takes its connections, their records and its functions with it.</p>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Delete the integration…
      </Button>
      {isOpen && (
        <ConfirmChange
          title="Delete the integration?"
          verb="Delete the integration"
          isDangerous
          typed={integration}
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            All connections of <b>{integration}</b>, their syncs, records and credentials, and its
            functions are deleted. It cannot be undone.
          </p>
        </ConfirmChange>
      )}
    </div>
  );
}
