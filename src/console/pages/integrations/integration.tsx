import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { failureOf, fieldProblemsOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Check, TextField } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty, FailureNotice, SkeletonRows } from '../../design/states.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { lazy } from '../lazy.tsx';
import { AppFields, credentialsOf, hasApp, inWordsOfFields, type App } from './app-fields.tsx';
import { Functions } from './functions.tsx';
import { RateLimit } from './rate-limit.tsx';
import { TryAccount } from './try-account.tsx';

const Templates = lazy(
  async () => (await import('./templates.tsx')).Templates,
  () => <SkeletonRows />,
);

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
    id: 'templates',
    label: 'Templates',
    scope: 'environment:functions:list',
    content: (integration) => <Templates integration={integration} />,
  },
  {
    id: 'test',
    label: 'Test account',
    scope: 'environment:connect_sessions:write',
    content: (integration) => <TestAccount integration={integration} />,
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

function TestAccount({ integration }: PartProps): JSX.Element {
  const query = useIntegration(integration);
  return (
    <LoadedState query={query}>
      {({ data: { provider } }) => <TestOfProvider integration={integration} provider={provider} />}
    </LoadedState>
  );
}

function TestOfProvider({ integration, provider }: AppProps & { readonly provider: string }) {
  const query = useRead('GET /providers/{provider}', { params: { provider } });
  return (
    <LoadedState query={query}>
      {({ data }) => <TryAccount integration={integration} provider={data} />}
    </LoadedState>
  );
}

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
            <ProviderSettings integration={integration} settings={data} />
          )}
          <RateLimit integration={integration} />
          <AppCredentials integration={integration} provider={data.provider} />
          {can('environment:integrations:delete') && <Deletion integration={integration} />}
        </div>
      )}
    </LoadedState>
  );
}

interface ProviderSettingsProps extends PartProps {
  readonly settings: {
    readonly provider: string;
    readonly display_name: string;
    readonly forward_webhooks: boolean;
    readonly revoke_on_disconnect: boolean;
  };
}

function ProviderSettings({ integration, settings }: ProviderSettingsProps): JSX.Element {
  const { provider } = settings;
  const query = useRead('GET /providers/{provider}', { params: { provider } });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <SettingsForm
          integration={integration}
          name={settings.display_name}
          isForwarding={settings.forward_webhooks}
          isRevoking={settings.revoke_on_disconnect}
          canRevoke={data.revocation !== undefined}
        />
      )}
    </LoadedState>
  );
}

interface SettingsFormProps extends PartProps {
  readonly name: string;
  readonly isForwarding: boolean;
  readonly isRevoking: boolean;
  /** Whether the definition of the provider has a revocation. */
  readonly canRevoke: boolean;
}

function SettingsForm(props: SettingsFormProps): JSX.Element {
  const { integration, name, isForwarding, isRevoking, canRevoke } = props;
  const [text, setText] = useState(name);
  const [forwards, setForwards] = useState(isForwarding);
  const [revokes, setRevokes] = useState(isRevoking);
  const isSame = text === name && forwards === isForwarding && revokes === isRevoking;
  const save = useChange(
    (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey: integration },
        body: {
          display_name: text,
          forward_webhooks: forwards,
          ...(revokes === isRevoking ? {} : { revoke_on_disconnect: revokes }),
        },
      }),
    { done: 'The settings were saved', showsFailure: true },
  );
  return (
    <div class="card padded stack">
      <TextField
        label="Display name"
        hint="Your users see it on the connect page."
        problem={text.trim() === '' ? 'Enter a name.' : undefined}
        value={text}
        onInput={setText}
      />
      <Check
        label="Forward webhooks of the provider to the application"
        isChecked={forwards}
        onChange={setForwards}
      />
      {(canRevoke || isRevoking) && (
        <Check
          label="Revoke access at the provider when a connection is deleted"
          isChecked={revokes}
          onChange={setRevokes}
        />
      )}
      {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
      <div>
        <Button
          tone="primary"
          isDisabled={text.trim() === '' || isSame}
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

interface AppProps {
  readonly integration: string;
}

/** Of the app at the provider; nothing for providers that need none. */
function AppCredentials({
  integration,
  provider,
}: AppProps & { readonly provider: string }): JSX.Element | null {
  const { can } = useAccess();
  const [isShown, setShown] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const { data } = useRead('GET /providers/{provider}', { params: { provider } });
  const mode = data?.data.auth_mode ?? '';
  if (!hasApp(mode)) return null;
  return (
    <div class="card">
      <div class="card-head">
        <h2>App credentials</h2>
        <div class="row">
          {can('environment:integrations:read_credentials') && (
            <Button icon="eye" onPress={() => setShown(!isShown)}>
              {isShown ? 'Hide' : 'Reveal (audited)'}
            </Button>
          )}
          {can('environment:integrations:update') && (
            <Button icon="pencil" onPress={() => setReplacing(true)}>
              Replace…
            </Button>
          )}
        </div>
      </div>
      {isShown ? (
        <Secrets integration={integration} />
      ) : (
        <p class="card-body muted">Client ids, secrets and keys are stored sealed.</p>
      )}
      {isReplacing && (
        <Replacement integration={integration} mode={mode} onClose={() => setReplacing(false)} />
      )}
    </div>
  );
}

/** Read on a press only: the service audits each reading. */
function Secrets({ integration }: AppProps): JSX.Element {
  const query = useRead('GET /integrations/{uniqueKey}', {
    params: { uniqueKey: integration },
    query: { include: ['credentials'] },
  });
  return (
    <div class="card-body">
      <LoadedState query={query}>
        {({ data: { credentials } }) =>
          credentials === null || credentials === undefined ? (
            <p class="muted">This integration has no credentials of an app.</p>
          ) : (
            <KeyValues
              rows={Object.entries(credentials).map(
                ([name, value]) =>
                  [
                    name,
                    <span key={name} class="mono">
                      {value}
                    </span>,
                  ] as const,
              )}
            />
          )
        }
      </LoadedState>
    </div>
  );
}

interface ReplacementProps extends AppProps {
  readonly mode: string;
  readonly onClose: () => void;
}

function Replacement({ integration, mode, onClose }: ReplacementProps): JSX.Element {
  const [app, setApp] = useState<App>({});
  const replace = useChange(
    (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey: integration },
        body: { credentials: credentialsOf(mode, app) },
      }),
    { done: 'The credentials were replaced', onDone: onClose, showsFailure: true },
  );
  const problems = inWordsOfFields(fieldProblemsOf(replace.error));
  return (
    <Dialog title={`Replace the app credentials of ${integration}`} onClose={onClose}>
      <ChangeForm change={replace} verb="Replace the credentials" problems={problems}>
        <p class="muted">
          Connections keep their tokens; refreshes and new authorizations use the new credentials at
          once.
        </p>
        <AppFields mode={mode} app={app} problems={problems} onChange={setApp} />
      </ChangeForm>
    </Dialog>
  );
}
