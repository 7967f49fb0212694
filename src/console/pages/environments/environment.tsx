import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Environment as EnvironmentState } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { failureOf } from '../../data/failure.ts';
import { useRead, useChange } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { FailureNotice, Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { environmentKeysOf, sectionOf, useAccess, useSession } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { ConnectPage } from './connect-page.tsx';
import { Keys } from './keys.tsx';
import {
  WebhookFields,
  type EnvironmentPatch as Patch,
  type PartProps,
} from './webhook-settings.tsx';

const tabs = [
  { id: 'keys', label: 'Keys', scope: 'account:environments:api_keys:list' },
  { id: 'settings', label: 'Settings', scope: 'account:environments:read' },
  { id: 'connect-page', label: 'Connect page', scope: 'account:environments:read' },
  { id: 'retention', label: 'Retention', scope: 'account:environments:read' },
] as const;

export function Environment(): JSX.Element {
  const { can, path } = useAccess();
  const [, id = '', part] = useParts();
  const environmentId = Number(id);
  const query = useRead('GET /environments/{environmentId}', { params: { environmentId } });
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = (offered.find((tab) => tab.id === part) ?? offered[0])?.id;
  return (
    <Page
      title={query.data?.data.name ?? 'Environment'}
      crumbs={[['Environments', path('/environments')]]}
    >
      <LinkTabs
        label="Environment"
        current={current ?? ''}
        tabs={offered.map((tab) => ({
          ...tab,
          href: path(`${pathOf('environments', id)}/${tab.id}`),
        }))}
      />
      <LoadedState query={query}>
        {({ data }) => (
          <>
            {current === 'keys' && <Keys environmentId={environmentId} />}
            {current === 'settings' && (
              <div class="stack">
                <EnvironmentSettings environment={data} />
                {/* The service keeps prod. */}
                {can('account:environments:delete') && data.name !== 'prod' && (
                  <EnvironmentDeletion environment={data} />
                )}
              </div>
            )}
            {current === 'connect-page' && <ConnectPage environment={data} />}
            {current === 'retention' && <Retention environment={data} />}
          </>
        )}
      </LoadedState>
    </Page>
  );
}

interface SettingsProps {
  readonly environment: EnvironmentState;
}

/** Each part is saved with the button at the end; only what was changed is sent. */
function EnvironmentSettings({ environment }: SettingsProps): JSX.Element {
  const { can } = useAccess();
  const [patch, setPatch] = useState<Patch>({});
  const set = (changed: Patch): void => setPatch({ ...patch, ...changed });
  const save = useChange(
    (client) =>
      client.request('PATCH /environments/{environmentId}', {
        params: { environmentId: environment.id },
        body: patch,
      }),
    { done: 'The settings were saved', onDone: () => setPatch({}), showsFailure: true },
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <WebhooksPart environment={environment} patch={patch} set={set} />
      <Records environment={environment} patch={patch} set={set} />
      {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
      {can('account:environments:update') && (
        <div>
          <Button
            type="submit"
            tone="primary"
            isDisabled={Object.keys(patch).length === 0}
            isBusy={save.isPending}
          >
            Save the settings
          </Button>
        </div>
      )}
    </form>
  );
}

/** Addresses and events stand with the endpoints of the environment; here where the session has no key of it. */
function WebhooksPart(props: PartProps): JSX.Element {
  const key = environmentKeysOf(useSession()).find(
    ({ environment: one }) => String(one?.id) === String(props.environment.id),
  );
  if (key === undefined) return <WebhookFields {...props} />;
  return (
    <Notice>
      Webhook addresses and the events that are sent stand with{' '}
      <Link href={`${sectionOf(key)}/webhooks-out/endpoints`}>
        the endpoints of the environment
      </Link>
      .
    </Notice>
  );
}

function Records({ environment, patch, set }: PartProps): JSX.Element {
  const retention = { ...environment.retention, ...patch.retention };
  return (
    <div class="card padded stack">
      <h2>Records</h2>
      <TextField
        label="Prune payloads after (days without a run)"
        type="number"
        value={String(retention.prune_after_days)}
        onInput={(days) => set({ retention: { ...retention, prune_after_days: Number(days) } })}
      />
      <TextField
        label="Delete records after (days without a run)"
        type="number"
        value={String(retention.delete_after_days)}
        onInput={(days) => set({ retention: { ...retention, delete_after_days: Number(days) } })}
      />
      <Select
        label="Values of functions that do not fit their schema"
        value={patch.validation ?? environment.validation}
        choices={validations}
        onChange={(value) => {
          const validation = (['off', 'warn', 'error'] as const).find((one) => one === value);
          if (validation !== undefined) set({ validation });
        }}
      />
      {(patch.validation ?? environment.validation) === 'warn' && (
        <Select
          label="Inputs of actions that do not fit"
          value={patch.input_validation ?? environment.input_validation}
          choices={inputValidations}
          onChange={(value) => set({ input_validation: value === 'warn' ? 'warn' : 'error' })}
        />
      )}
      <Select
        label="Log lines of functions"
        value={keepsAll(environment, patch) ? 'all' : 'level'}
        choices={[
          { value: 'level', label: 'From the level of SVC_LOGGER_LEVEL on, or from warn on' },
          { value: 'all', label: 'All, for an hour' },
        ]}
        onChange={(value) => set({ keep_all_logs_minutes: value === 'all' ? 60 : 0 })}
      />
    </div>
  );
}

const validations = [
  { value: 'off', label: 'Not checked' },
  { value: 'warn', label: 'Counted in the log' },
  { value: 'error', label: 'Refused' },
];
const inputValidations = [
  { value: 'error', label: 'Refused, with the path of what is wrong' },
  { value: 'warn', label: 'Counted in the log' },
];

/** Whether functions keep lines of every level: as chosen here, else as it is. */
function keepsAll(
  { keep_all_logs_until: until }: EnvironmentState,
  { keep_all_logs_minutes: minutes }: Patch,
): boolean {
  if (minutes !== undefined) return minutes > 0;
  return until !== null && new Date(until) > new Date();
}

interface DeletionProps {
  readonly environment: EnvironmentState;
}

function EnvironmentDeletion({ environment: { id, name } }: DeletionProps): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) =>
      client.request('DELETE /environments/{environmentId}', { params: { environmentId: id } }),
    {
      done: `${name} was deleted`,
      onDone: () => navigate(path('/environments')),
      showsFailure: true,
    },
  );
  return (
    <div class="card padded row spread">
      <p>A deleted environment takes its integrations, connections, records and keys with it.</p>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Delete the environment…
      </Button>
      {isOpen && (
        <ConfirmChange
          title="Delete the environment?"
          verb="Delete the environment"
          isDangerous
          typed={name}
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            All integrations, connections, records, functions, webhooks and keys of <b>{name}</b>{' '}
            are deleted. It cannot be undone.
          </p>
        </ConfirmChange>
      )}
    </div>
  );
}

/** What retention would prune and delete now. */
function Retention({ environment }: { readonly environment: EnvironmentState }): JSX.Element {
  const query = useRead('GET /environments/{environmentId}/retention', {
    params: { environmentId: environment.id },
  });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <div class="stack">
          <div class="card padded">
            <KeyValues
              rows={[
                ['Payloads are pruned', `${data.prune_after_days} days after the last run`],
                ['Records are deleted', `${data.delete_after_days} days after the last run`],
                ['Pruned now', counted(data.prune.records, 'record')],
                ['Deleted now', counted(data.delete.records, 'record')],
              ]}
            />
          </div>
          {data.streams.length === 0 ? (
            <Empty title="Retention has nothing to do" />
          ) : (
            <Table
              label="Streams that retention touches"
              rows={data.streams}
              keyOf={(row) => JSON.stringify(row)}
              columns={[
                { title: 'Action', fit: 'tight', cell: ({ action }) => action },
                {
                  title: 'Connection',
                  cell: ({ provider_config_key: integration, connection_id: id }) => (
                    <Clip text={`${integration} / ${id}`} />
                  ),
                },
                { title: 'Model', cell: ({ model }) => model },
                { title: 'Records', fit: 'end', cell: ({ records }) => records },
                {
                  title: 'Last run',
                  fit: 'tight',
                  cell: ({ last_run_at: at }) => <Time at={at} />,
                },
              ]}
            />
          )}
        </div>
      )}
    </LoadedState>
  );
}
