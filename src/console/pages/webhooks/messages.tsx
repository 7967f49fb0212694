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
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { TextField } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer, Dialog } from '../../design/overlay.tsx';
import { Empty, FailureNotice, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  FilterText,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { webhookKinds } from './webhook-kinds.ts';

type Query = NonNullable<Input<'GET /webhook-messages'>['query']>;

const states = membersOf<NonNullable<Query['state']>>({
  pending: true,
  delivered: true,
  failed: true,
  cancelled: true,
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
        <FilterText filters={filters} name="endpoint" label="Endpoint" type="search" />
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
          columns={columns}
          rows={list.items}
          sort={list.hasMore ? undefined : sort}
          keyOf={({ id, endpoint_id: endpoint }) => `${id} ${endpoint}`}
        />
      </ListState>
      {open !== undefined && <MessageDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </>
  );
}

const columns: readonly Column<WebhookMessage>[] = [
  {
    title: 'Kind',
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
  { title: 'Endpoint', cell: ({ endpoint_id: id }) => <Clip text={id} /> },
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
