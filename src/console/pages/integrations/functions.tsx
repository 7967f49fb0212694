import type { JSX } from 'preact';
import type { Answer } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { Button, LinkButton } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Code, Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { LogOf } from '../logs/logs.tsx';
import { Concurrency, debounceText } from './concurrency.tsx';

type Function_ = Answer<'GET /integrations/{uniqueKey}/functions'>['data'][number];

export function Functions({ integration }: { readonly integration: string }): JSX.Element {
  const filters = useUrlState();
  const sort = useSort();
  const { path } = useAccess();
  const templates = path(`${pathOf('integrations', integration)}/templates`);
  const query = useRead('GET /integrations/{uniqueKey}/functions', {
    params: { uniqueKey: integration },
    query: { limit: 100 },
  });
  return (
    <LoadedState query={query}>
      {({ data, pagination }) => {
        if (data.length === 0)
          return (
            <Empty
              title="No functions"
              command="npx svc deploy <environment>"
              action={<LinkButton href={templates}>Choose a template</LinkButton>}
            >
              Choose a template, or deploy functions of your project for this integration:
            </Empty>
          );
        const open = data.find(({ name }) => name === filters.get('function'));
        return (
          <>
            <Table
              label="Functions"
              columns={columns}
              rows={data}
              sort={pagination.total > data.length ? undefined : sort}
              keyOf={({ name, type }) => `${type} ${name}`}
            />
            {open !== undefined && (
              <FunctionDrawer
                integration={integration}
                shown={open}
                onClose={() => filters.set({ function: '' })}
              />
            )}
          </>
        );
      }}
    </LoadedState>
  );
}

const columns: readonly Column<Function_>[] = [
  {
    title: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <OpenLink name="function" id={name} text={name} />,
  },
  { title: 'Type', fit: 'tight', sortBy: ({ type }) => type, cell: ({ type }) => type },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'enabled' : 'disabled'}</Badge>
    ),
  },
  {
    title: 'Description',
    narrow: 'below',
    cell: ({ description = '' }) => <Clip text={description} />,
  },
  { title: 'Runs', fit: 'tight', cell: ({ runs }) => runs ?? '–' },
  {
    title: 'Deployed',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ last_deployed: at }) => at,
    cell: ({ last_deployed: at }) => <Time at={at} />,
  },
];

interface FunctionDrawerProps {
  readonly integration: string;
  readonly shown: Function_;
  readonly onClose: () => void;
}

function FunctionDrawer({ integration, shown, onClose }: FunctionDrawerProps): JSX.Element {
  const { can } = useAccess();
  return (
    <Drawer title={shown.name} onClose={onClose}>
      <p class="muted">{shown.description}</p>
      <Tabs
        label="Function"
        tabs={[
          {
            id: 'about',
            label: 'About',
            content: (
              <KeyValues
                rows={[
                  ['Type', shown.type],
                  ['Source', shown.source],
                  ['Input', shown.input],
                  ['Returns', shown.returns?.join(', ')],
                  ['Schedule', shown.runs],
                  ['Scopes at the provider', shown.scopes?.join(', ')],
                  [
                    'Runs at the same time',
                    <Concurrency key="concurrency" integration={integration} shown={shown} />,
                  ],
                  ['Joined webhooks', shown.debounce && debounceText(shown.debounce)],
                  ['Log lines', <KeptLogs key="logs" integration={integration} shown={shown} />],
                  ['Calls', <RecordedCalls key="calls" integration={integration} shown={shown} />],
                ]}
              />
            ),
          },
          {
            id: 'schema',
            label: 'Schema',
            content: <Json label="JSON schema" value={shown.json_schema ?? null} />,
          },
          ...(can('environment:logs:read')
            ? [
                {
                  id: 'logs',
                  label: 'Logs',
                  content: <LogOf subject={{ integration, function: shown.name }} />,
                },
              ]
            : []),
          ...(can('environment:functions:read')
            ? [
                {
                  id: 'code',
                  label: 'Code',
                  content: <FunctionCode integration={integration} shown={shown} />,
                },
              ]
            : []),
        ]}
      />
    </Drawer>
  );
}

/** Whether the responses that its runs get are kept for replays, and the switch. */
function RecordedCalls({ integration, shown }: Omit<FunctionDrawerProps, 'onClose'>): JSX.Element {
  const { can } = useAccess();
  const { name, type, record_calls: isRecorded } = shown;
  const record = useChange(
    (client) =>
      client.request('PUT /integrations/{uniqueKey}/functions/{name}/recording', {
        params: { uniqueKey: integration, name },
        query: { type },
        body: { record_calls: !isRecorded },
      }),
    {
      done: isRecorded
        ? `The calls of ${name} are no longer recorded`
        : `The calls of ${name} are recorded from now on`,
    },
  );
  return (
    <div class="row">
      <span>{isRecorded ? 'Recorded for replays, and kept for 7 days' : 'Not recorded'}</span>
      {can('environment:logs:keep') && (
        <Button onPress={() => record.mutate()} isBusy={record.isPending}>
          {isRecorded ? 'Stop recording' : 'Record the calls'}
        </Button>
      )}
    </div>
  );
}

/** Which log lines the function keeps, and the switch for an hour. */
function KeptLogs({ integration, shown }: Omit<FunctionDrawerProps, 'onClose'>): JSX.Element {
  const { can } = useAccess();
  const { name, type } = shown;
  const query = useRead('GET /logs/keep', {});
  const keep = useChange(
    (client, minutes: number) =>
      client.request('POST /logs/keep', {
        body: { minutes, functions: [{ integration_id: integration, type, name }] },
      }),
    { done: 'The log lines to keep were changed' },
  );
  return (
    <LoadedState query={query}>
      {({ data }) => {
        const own = data.functions.find(
          (one) => one.integration_id === integration && one.type === type && one.name === name,
        );
        const until = own?.keep_all_logs_until ?? data.keep_all_logs_until;
        return (
          <div class="row">
            {until === null ? (
              <span>From the level of SVC_LOGGER_LEVEL on, or from warn on</span>
            ) : (
              <span>
                All, until <Time at={until} />
              </span>
            )}
            {can('environment:logs:keep') && (
              <Button
                onPress={() => keep.mutate(own === undefined ? 60 : 0)}
                isBusy={keep.isPending}
              >
                {own === undefined ? 'Keep all lines for an hour' : 'Keep fewer lines again'}
              </Button>
            )}
          </div>
        );
      }}
    </LoadedState>
  );
}

function FunctionCode({ integration, shown }: Omit<FunctionDrawerProps, 'onClose'>): JSX.Element {
  const query = useRead('GET /integrations/{uniqueKey}/functions/{name}/code', {
    params: { uniqueKey: integration, name: shown.name },
    query: { type: shown.type },
  });
  return <LoadedState query={query}>{({ code }) => <Code label="Code" text={code} />}</LoadedState>;
}
