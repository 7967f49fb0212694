import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Answer, WebhookMessage } from '#client/index.ts';
import { useChange, useList, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterSelect, FilterText, IntegrationFilter } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { queryOf, states } from './message-query.ts';
import { Recover, Replay } from './send-again.tsx';
import { webhookKinds } from './webhook-kinds.ts';

export function Messages(): JSX.Element {
  const filters = useUrlState();
  const list = useList(
    'GET /webhook-messages',
    { query: { ...queryOf(filters), limit: 100 } },
    ({ data }) => data,
    { everyMs: 5_000 },
  );
  const open = filters.sent('id');
  return (
    <>
      <div class="row">
        <Recover filters={filters} />
        <Replay filters={filters} />
      </div>
      <div class="filters" role="search">
        <FilterSelect filters={filters} name="state" label="State" values={states} />
        <FilterSelect filters={filters} name="kind" label="Kind" values={webhookKinds} />
        <FilterText filters={filters} name="endpoint" label="Endpoint" type="search" />
        <IntegrationFilter filters={filters} />
        <FilterText filters={filters} name="connection" label="Connection" type="search" />
      </div>
      <ListState
        list={list}
        empty={
          <Empty title="No webhooks" command="npx svc webhooks list">
            None was sent yet, or none matches the filters.
          </Empty>
        }
      >
        <Table
          label="Webhook messages"
          columns={columns}
          rows={list.items}
          keyOf={({ id, endpoint_id: endpoint }) => `${id} ${endpoint}`}
        />
      </ListState>
      {open !== undefined && <MessageDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </>
  );
}

const columns: readonly Column<WebhookMessage>[] = [
  { title: 'Kind', cell: ({ id, kind }) => <OpenLink id={id} text={kind.replaceAll('_', ' ')} /> },
  { title: 'State', fit: 'tight', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Endpoint', cell: ({ endpoint_id: id }) => <span class="clip">{id}</span> },
  {
    title: 'Connection',
    cell: ({ provider_config_key: integration, connection_id: id }) => (
      <span class="clip">{[integration, id].filter(Boolean).join(' / ') || '–'}</span>
    ),
  },
  { title: 'Attempts', fit: 'end', cell: ({ attempts }) => attempts },
  {
    title: 'Response',
    fit: 'tight',
    cell: ({ status, error_code: code }) => status ?? code ?? '–',
  },
  { title: 'Next attempt', fit: 'tight', cell: ({ next_attempt_at: at }) => <Time at={at} /> },
  { title: 'Created', fit: 'tight', cell: ({ created_at: at }) => <Time at={at} /> },
];

interface MessageDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

function MessageDrawer({ id, onClose }: MessageDrawerProps): JSX.Element {
  const query = useRead('GET /webhook-messages/{id}', { params: { id } }, { everyMs: 5_000 });
  const resend = useChange(
    (client) => client.request('POST /webhook-messages/{id}/resend', { params: { id } }),
    { done: 'The webhook is sent once more' },
  );
  return (
    <Drawer title="Webhook" onClose={onClose}>
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            <div>
              <Button icon="send" isBusy={resend.isPending} onPress={() => resend.mutate()}>
                Resend
              </Button>
            </div>
            {data.deliveries.map((delivery) => (
              <Delivery key={delivery.endpoint_id} delivery={delivery} />
            ))}
            <h3>Body</h3>
            <Json label="Body" value={data.payload} />
          </div>
        )}
      </LoadedState>
    </Drawer>
  );
}

type DeliveryOf = Answer<'GET /webhook-messages/{id}'>['data']['deliveries'][number];

function Delivery({ delivery }: { readonly delivery: DeliveryOf }): JSX.Element {
  const { path } = useAccess();
  const { run_id: run } = delivery;
  return (
    <>
      <KeyValues
        rows={[
          ['Endpoint', delivery.endpoint_id],
          ['State', <StateBadge key="state" state={delivery.state} />],
          [
            'Run',
            run === null ? null : (
              <Link key="run" href={path(pathOf('runs', run))}>
                {run}
              </Link>
            ),
          ],
          ['Next attempt', <Time key="next" at={delivery.next_attempt_at} />],
          ['Replay of', delivery.replay_of],
        ]}
      />
      <h3>Attempts</h3>
      {delivery.attempt_list.map((attempt) => (
        <Json key={attempt.attempt} label={`Attempt ${attempt.attempt}`} value={attempt} />
      ))}
    </>
  );
}
