import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Input, WebhookDelivery } from '#client/index.ts';
import { membersOf } from '../../data/members.ts';
import { useChange, useList, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Code, Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { Page } from '../../shell/page.tsx';

type Query = NonNullable<Input<'GET /webhook-deliveries'>['query']>;

const dispositions = membersOf<NonNullable<Query['disposition']>>({
  received: true,
  accepted: true,
  rejected: true,
  unmatched: true,
  duplicate: true,
  reprocessed: true,
  refused: true,
});

const queryOf = (filters: UrlState): Query => ({
  disposition: dispositions.find((one) => one === filters.get('disposition')),
  provider_config_key: filters.sent('integration'),
  connection_id: filters.sent('connection'),
  limit: 100,
});

export function WebhooksIn(): JSX.Element {
  const filters = useUrlState();
  const sort = useSort();
  const list = useList('GET /webhook-deliveries', { query: queryOf(filters) }, ({ data }) => data, {
    everyMs: 5_000,
  });
  const open = filters.sent('id');
  return (
    <Page
      title="Webhooks in"
      about="Every webhook of a provider, those that were rejected too, with the reason."
    >
      <FilterBar filters={filters}>
        <FilterSelect filters={filters} name="disposition" label="Outcome" values={dispositions} />
        <IntegrationFilter filters={filters} />
        <ConnectionFilter filters={filters} />
      </FilterBar>
      <ListState
        list={list}
        empty={
          <Empty title="No webhooks" command="npx svc listen">
            Enter the webhook URL of an integration at the provider; or none matches the filters.
          </Empty>
        }
      >
        <Table
          label="Webhooks of providers"
          columns={columns}
          rows={list.items}
          sort={list.hasMore ? undefined : sort}
          keyOf={({ id }) => id}
        />
      </ListState>
      {open !== undefined && <DeliveryDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </Page>
  );
}

const columns: readonly Column<WebhookDelivery>[] = [
  {
    title: 'Type',
    sortBy: ({ type }) => type,
    cell: ({ id, type }) => <OpenLink id={id} text={type ?? 'without a type'} />,
  },
  {
    title: 'Outcome',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ disposition }) => disposition,
    cell: ({ disposition }) => <StateBadge state={disposition} />,
  },
  { title: 'Reason', narrow: 'below', cell: ({ reason }) => <Clip text={reason ?? '–'} /> },
  {
    title: 'Integration',
    cell: ({ provider_config_key: integration }) => <Clip text={integration} />,
  },
  {
    title: 'Connections',
    cell: ({ provider_config_key: integration, connection_ids: [first, ...more] }) =>
      first === undefined ? (
        '–'
      ) : (
        <span class="row">
          <ConnectionLink integration={integration} id={first} />
          {more.length > 0 && `+${more.length}`}
        </span>
      ),
  },
  { title: 'Response', fit: 'end', cell: ({ status }) => status ?? '–' },
  {
    title: 'Received',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ received_at: at }) => at,
    cell: ({ received_at: at }) => <Time at={at} />,
  },
];

interface DeliveryDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

function DeliveryDrawer({ id, onClose }: DeliveryDrawerProps): JSX.Element {
  const { can, path } = useAccess();
  const query = useRead('GET /webhook-deliveries/{id}', { params: { id } });
  const again = useChange(
    (client) => client.request('POST /webhook-deliveries/{id}/process', { params: { id } }),
    { done: 'The webhook was processed again' },
  );
  return (
    <Drawer title="Webhook of a provider" onClose={onClose}>
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            {data.reason !== null && <Notice tone="warn">{data.reason}</Notice>}
            {can('environment:webhooks:resend') && (
              <div>
                <Button icon="refresh" isBusy={again.isPending} onPress={() => again.mutate()}>
                  Process again
                </Button>
              </div>
            )}
            <KeyValues
              rows={[
                ['Outcome', <StateBadge key="state" state={data.disposition} />],
                ['Integration', data.provider_config_key],
                [
                  'Connections',
                  data.connection_ids.map((connection) => (
                    <div key={connection}>
                      <ConnectionLink integration={data.provider_config_key} id={connection} />
                    </div>
                  )),
                ],
                [
                  'Runs',
                  data.run_ids.map((run) => (
                    <div key={run}>
                      <Link href={path(pathOf('runs', run))}>{run}</Link>
                    </div>
                  )),
                ],
                ['Delivery id of the provider', data.provider_delivery_id],
                ['Received', <Time key="at" at={data.received_at} />],
              ]}
            />
            <h3>Headers</h3>
            <Json label="Headers" value={data.headers} />
            <h3>Body</h3>
            <Code label="Body" text={data.body ?? 'The body was not kept.'} isWrapped />
          </div>
        )}
      </LoadedState>
    </Drawer>
  );
}
