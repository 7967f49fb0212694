import type { JSX, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, WebhookMessage, Client, Input } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { failureOf } from '../../data/failure.ts';
import { instantOf, localDayAgo } from '../../data/local-time.ts';
import { membersOf } from '../../data/members.ts';
import { useChange, useList, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge, StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { TextField } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer, Dialog } from '../../design/overlay.tsx';
import { ShortTable } from '../../design/short-table.tsx';
import { Empty, FailureNotice, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { endpointChoices, useEndpointNames } from './endpoint-names.ts';
import { webhookKinds } from './webhook-kinds.ts';

type Query = NonNullable<Input<'GET /webhook-messages'>['query']>;

const states = membersOf<NonNullable<Query['state']>>({
  pending: true,
  delivered: true,
  failed: true,
  cancelled: true,
  filtered: true,
});

/** The conditions in the address, of a list and of a replay. */
const queryOf = (filters: UrlState): Query => ({
  state: states.find((state) => state === filters.get('state')),
  kind: webhookKinds.find((kind) => kind === filters.get('kind')),
  endpoint_id: filters.sent('endpoint'),
  provider_config_key: filters.sent('integration'),
  connection_id: filters.sent('connection'),
});

export function Messages(): JSX.Element {
  const { can } = useAccess();
  const filters = useUrlState();
  const sort = useSort();
  const endpoints = useEndpointNames();
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
        {can('environment:webhooks:resend') && (
          <>
            <Recover filters={filters} />
            <Replay filters={filters} />
          </>
        )}
      </div>
      <FilterBar filters={filters}>
        <FilterSelect filters={filters} name="state" label="State" values={states} />
        <FilterSelect filters={filters} name="kind" label="Kind" values={webhookKinds} />
        <FilterSelect
          filters={filters}
          name="endpoint"
          label="Endpoint"
          values={endpointChoices(endpoints)}
        />
        <IntegrationFilter filters={filters} />
        <ConnectionFilter filters={filters} />
      </FilterBar>
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
          columns={columnsOf(endpoints)}
          rows={list.items}
          sort={list.hasMore ? undefined : sort}
          keyOf={({ id, endpoint_id: endpoint }) => `${id} ${endpoint}`}
        />
      </ListState>
      {open !== undefined && <MessageDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </>
  );
}

const columnsOf = (endpoints: ReadonlyMap<string, string>): readonly Column<WebhookMessage>[] => [
  {
    title: 'Kind',
    fit: 'short',
    sortBy: ({ kind }) => kind,
    cell: ({ id, kind }) => <OpenLink id={id} text={kind.replaceAll('_', ' ')} />,
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ state }) => state,
    cell: ({ state }) => <StateBadge state={state} />,
  },
  { title: 'Endpoint', cell: ({ endpoint_id: id }) => <Clip text={endpoints.get(id) ?? id} /> },
  {
    title: 'Connection',
    narrow: 'below',
    cell: ({ provider_config_key: integration, connection_id: id }) => (
      <ConnectionLink integration={integration} id={id} />
    ),
  },
  {
    title: 'Attempts',
    fit: 'end',
    sortBy: ({ attempts }) => attempts,
    cell: ({ attempts }) => attempts,
  },
  {
    title: 'Response',
    fit: 'tight',
    cell: ({ status, error_code: code }) => status ?? code ?? '–',
  },
  { title: 'Next attempt', fit: 'tight', cell: ({ next_attempt_at: at }) => <Time at={at} /> },
  {
    title: 'Created',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];

interface MessageDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

function MessageDrawer({ id, onClose }: MessageDrawerProps): JSX.Element {
  const { can } = useAccess();
  const query = useRead('GET /webhook-messages/{id}', { params: { id } }, { everyMs: 5_000 });
  const endpoints = useEndpointNames();
  const resend = useChange(
    (client) => client.request('POST /webhook-messages/{id}/resend', { params: { id } }),
    { done: 'The webhook is sent once more' },
  );
  return (
    <Drawer title="Webhook" onClose={onClose}>
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            {can('environment:webhooks:resend') && (
              <div>
                <Button icon="send" isBusy={resend.isPending} onPress={() => resend.mutate()}>
                  Resend
                </Button>
              </div>
            )}
            {data.deliveries.map((delivery, index) => (
              <Delivery
                key={`${delivery.id} ${delivery.endpoint_id}`}
                delivery={delivery}
                endpoint={endpoints.get(delivery.endpoint_id) ?? delivery.endpoint_id}
                number={index + 1}
              />
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

interface DeliveryProps {
  readonly delivery: DeliveryOf;
  /** Name of its endpoint. */
  readonly endpoint: string;
  readonly number: number;
}

function Delivery({ delivery, endpoint, number }: DeliveryProps): JSX.Element {
  const { path } = useAccess();
  const { run_id: run, next_attempt_at: next, replay_of: origin, fix } = delivery;
  return (
    <>
      <KeyValues
        rows={[
          ['Endpoint', endpoint],
          ['State', <StateBadge key="state" state={delivery.state} />],
          ...(fix === null ? [] : [['What to do', fix] as const]),
          ...(run === null ? [] : [['Run', <RunLink key="run" id={run} />] as const]),
          ...(next === null ? [] : [['Next attempt', <Time key="next" at={next} />] as const]),
          ...(origin === null
            ? []
            : [
                [
                  'Repeats',
                  <Link
                    key="origin"
                    href={path(`/webhooks-out/messages?id=${encodeURIComponent(origin)}`)}
                  >
                    an earlier webhook
                  </Link>,
                ] as const,
              ]),
        ]}
      />
      <ShortTable
        label={`Attempts of delivery ${number} to ${endpoint}`}
        columns={attemptColumns}
        rows={delivery.attempt_list}
        keyOf={({ attempt }) => String(attempt)}
      />
    </>
  );
}

type Attempt = DeliveryOf['attempt_list'][number];

const attemptColumns: readonly Column<Attempt>[] = [
  { title: 'Attempt', fit: 'tight', narrow: 'below', cell: ({ attempt }) => attempt },
  {
    title: 'Outcome',
    narrow: 'top',
    cell: ({ success, status, error_code: code }) => (
      <Badge tone={success ? 'good' : 'bad'}>{status ?? code ?? 'no response'}</Badge>
    ),
  },
  {
    title: 'Took',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ latency_ms: latency }) => (latency === null ? '–' : duration(latency)),
  },
  { title: 'At', fit: 'tight', narrow: 'top end', cell: ({ at }) => <Time at={at} /> },
];

/** Named by the function, which the page of the run says. */
function RunLink({ id }: { readonly id: string }): JSX.Element {
  const { can, path } = useAccess();
  const isEnabled = can('environment:logs:read');
  const { data } = useRead('GET /runs/{id}', { params: { id } }, { isEnabled });
  return <Link href={path(pathOf('runs', id))}>{data?.data.function ?? id}</Link>;
}

type RecoveryResult = Answer<'POST /webhook-messages/recover'>;

/** Sends once more what failed since a time and was not recovered yet. */
function Recover({ filters }: { readonly filters: UrlState }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [since, setSince] = useState(localDayAgo);
  return (
    <>
      <Button icon="refresh" onPress={() => setOpen(true)}>
        Recover failed…
      </Button>
      {isOpen && (
        <SendAgain
          title="Send failed webhooks again"
          input={since}
          send={(client, isPreview) =>
            client.request('POST /webhook-messages/recover', {
              body: {
                since: instantOf(since) ?? since,
                endpoint_id: filters.sent('endpoint'),
                dry_run: isPreview,
              },
            })
          }
          onClose={() => setOpen(false)}
        >
          <p>Failed deliveries that were not recovered yet.</p>
          <TextField
            label="Failed since (local time)"
            type="datetime-local"
            value={since}
            isRequired
            onInput={setSince}
          />
        </SendAgain>
      )}
    </>
  );
}

/** Sends a range once more: what matches the filters of the page, whatever became of it. */
function Replay({ filters }: { readonly filters: UrlState }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [since, setSince] = useState(localDayAgo);
  const [until, setUntil] = useState('');
  return (
    <>
      <Button icon="send" onPress={() => setOpen(true)}>
        Replay a range…
      </Button>
      {isOpen && (
        <SendAgain
          title="Replay a range of webhooks"
          input={`${since} ${until}`}
          send={(client, isPreview) =>
            client.request('POST /webhook-messages/replay', {
              body: {
                ...queryOf(filters),
                since: instantOf(since) ?? since,
                until: instantOf(until),
                dry_run: isPreview,
              },
            })
          }
          onClose={() => setOpen(false)}
        >
          <p>Webhooks that match the filters of the list in this range, also delivered ones.</p>
          <TextField
            label="Created since (local time)"
            type="datetime-local"
            value={since}
            isRequired
            onInput={setSince}
          />
          <TextField
            label="Created until (local time)"
            hint="Leave empty for all up to now"
            type="datetime-local"
            value={until}
            onInput={setUntil}
          />
        </SendAgain>
      )}
    </>
  );
}

interface SendAgainProps {
  readonly title: string;
  /** The fields; a preview of others does not count. */
  readonly children: ComponentChildren;
  readonly input: string;
  readonly send: (client: Client, isPreview: boolean) => Promise<RecoveryResult>;
  readonly onClose: () => void;
}

/** Counts first, and sends after that. */
function SendAgain({ title, children, input, send, onClose }: SendAgainProps): JSX.Element {
  const [plan, setPlan] = useState<{
    readonly input: string;
    readonly data: RecoveryResult['data'];
  } | null>(null);
  const preview = useChange((client) => send(client, true), {
    onDone: ({ data }) => setPlan({ input, data }),
    showsFailure: true,
  });
  const apply = useChange((client) => send(client, false), {
    done: ({ data }) => `Sending ${counted(data.replayed, 'webhook')} again`,
    onDone: onClose,
    showsFailure: true,
  });
  const current = plan?.input === input ? plan.data : null;
  return (
    <Dialog title={title} onClose={onClose}>
      <ChangeForm
        change={preview}
        verb="Count them"
        outcome={current !== null && <Plan plan={current} />}
      >
        {children}
      </ChangeForm>
      {apply.error !== null && <FailureNotice failure={failureOf(apply.error)} />}
      {current !== null && current.matched > 0 && (
        <div>
          <Button tone="primary" isBusy={apply.isPending} onPress={() => apply.mutate()}>
            Send {current.matched.toLocaleString('en')} again
          </Button>
        </div>
      )}
    </Dialog>
  );
}

const Plan = ({ plan }: { readonly plan: RecoveryResult['data'] }): JSX.Element => (
  <Notice>
    {plan.matched === 0
      ? 'No webhook matches.'
      : `${counted(plan.matched, 'webhook')}${plan.has_more ? ', and more follow' : ''}. The application receives them once more.`}
  </Notice>
);
