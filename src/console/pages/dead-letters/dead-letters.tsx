import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DeadLetter, Input } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { membersOf } from '../../data/members.ts';
import { useChange, useList, useRead } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { ConnectionOfEnvironment } from '../../shell/connection-name.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { Page } from '../../shell/page.tsx';

type Query = NonNullable<Input<'GET /dead-letters'>['query']>;

const states = membersOf<NonNullable<Query['state']>>({
  parked: true,
  retrying: true,
  resolved: true,
  dropped: true,
});

const useDeadLetters = (query: Query) =>
  useList('GET /dead-letters', { query: { ...query, limit: 100 } }, ({ data }) => data, {
    everyMs: 10_000,
  });

export function DeadLetters(): JSX.Element {
  const { can } = useAccess();
  const filters = useUrlState();
  const sort = useSort();
  const query: Query = { consumer: filters.sent('consumer'), topic: filters.sent('topic') };
  const state = states.find((one) => one === filters.get('state'));
  const list = useDeadLetters({ ...query, state });
  const open = filters.sent('id');
  const hasParked = list.items.some((one) => one.state === 'parked');
  return (
    <Page
      title="Dead letters"
      about="Messages that a consumer gave up after its attempts."
      actions={can('account:dead-letters:write') && hasParked && <Bulk query={query} />}
    >
      <FilterBar filters={filters}>
        <FilterSelect filters={filters} name="state" label="State" values={states} />
        <FilterText filters={filters} name="consumer" label="Consumer" type="search" isWide />
        <FilterText filters={filters} name="topic" label="Topic" type="search" isWide />
      </FilterBar>
      <ListState
        list={list}
        empty={
          <Empty title="No dead letters" command="npx svc dead-letters list">
            Every message was processed, or none matches the filters.
          </Empty>
        }
      >
        <Table
          label="Dead letters"
          columns={columns}
          rows={list.items}
          keyOf={({ id }) => id}
          sort={list.hasMore ? undefined : sort}
        />
      </ListState>
      {open !== undefined && <LetterDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </Page>
  );
}

const columns: readonly Column<DeadLetter>[] = [
  {
    title: 'Consumer',
    sortBy: ({ consumer }) => consumer,
    cell: ({ id, consumer }) => <OpenLink id={id} text={consumer} />,
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ state }) => state,
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    title: 'Error',
    narrow: 'below',
    cell: ({ error }) => <Clip text={error === null ? '–' : `${error.code}: ${error.message}`} />,
  },
  {
    title: 'Position',
    cell: ({ topic, partition, offset }) => (
      <Clip text={`${topic} ${partition}/${offset}`} isMono />
    ),
  },
  {
    title: 'Attempts',
    fit: 'end',
    sortBy: ({ attempts }) => attempts,
    cell: ({ attempts }) => attempts,
  },
  {
    title: 'Parked',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ parked_at: at }) => at,
    cell: ({ parked_at: at }) => <Time at={at} />,
  },
];

const countedMax = 1000;

/** Retries or drops all parked letters that the filter selects, one request for each. */
function Bulk({ query }: { readonly query: Query }): JSX.Element {
  const [verb, setVerb] = useState<'retry' | 'drop' | null>(null);
  const parked = { query: { ...query, state: 'parked' as const, limit: countedMax } };
  const change = useChange(
    async (client, what: 'retry' | 'drop') => {
      const ids: string[] = [];
      for await (const { data } of client.pages('GET /dead-letters', parked))
        ids.push(...data.map(({ id }) => id));
      for (const id of ids) {
        const params = { id };
        await (what === 'retry'
          ? client.request('POST /dead-letters/{id}/retry', { params })
          : client.request('DELETE /dead-letters/{id}', { params }));
      }
      return ids.length;
    },
    {
      done: (count) => `Requested for ${count.toLocaleString('en')}`,
      onDone: () => setVerb(null),
      showsFailure: true,
    },
  );
  return (
    <>
      <Button onPress={() => setVerb('retry')}>Retry all…</Button>
      <Button tone="danger" onPress={() => setVerb('drop')}>
        Drop all…
      </Button>
      {verb !== null && (
        <ConfirmChange
          title={`${verb === 'retry' ? 'Retry' : 'Drop'} all dead letters that match?`}
          verb={verb === 'retry' ? 'Retry all' : 'Drop all'}
          isDangerous={verb === 'drop'}
          change={{ ...change, mutate: () => change.mutate(verb) }}
          onClose={() => setVerb(null)}
        >
          <Parked query={parked.query} />
          <p>
            {verb === 'retry'
              ? 'Each message goes once more to the consumer that gave it up.'
              : 'No consumer processes these messages any more.'}
          </p>
        </ConfirmChange>
      )}
    </>
  );
}

/** How many a change concerns, also beyond the list that is shown. */
function Parked({ query }: { readonly query: Query }): JSX.Element {
  const read = useRead('GET /dead-letters', { query });
  const { consumer, topic } = query;
  const selected = [consumer && `of the consumer ${consumer}`, topic && `of the topic ${topic}`];
  return (
    <LoadedState query={read}>
      {({ data, next_cursor: next }) => (
        <p>
          {next === null ? '' : 'More than '}
          {counted(data.length, 'parked message')} {selected.filter(Boolean).join(' ')}
        </p>
      )}
    </LoadedState>
  );
}

interface LetterDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

function LetterDrawer({ id, onClose }: LetterDrawerProps): JSX.Element {
  const { can } = useAccess();
  const query = useRead('GET /dead-letters/{id}', { params: { id } });
  return (
    <Drawer title="Dead letter" onClose={onClose}>
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            {data.error !== null && (
              <Notice tone="bad">
                <p>{data.error.message}</p>
                <p class="mono">{data.error.code}</p>
              </Notice>
            )}
            {can('account:dead-letters:write') && data.state === 'parked' && (
              <LetterActions id={id} />
            )}
            <KeyValues
              rows={[
                ['State', <StateBadge key="state" state={data.state} />],
                ['Consumer', data.consumer],
                ['Topic', data.topic],
                ['Partition and offset', `${data.partition} / ${data.offset}`],
                ['Key', data.key],
                [
                  'Connection',
                  <ConnectionOfEnvironment
                    key="connection"
                    environment={data.environment_id}
                    integration={data.integration}
                    id={data.connection_id}
                  />,
                ],
                ['Run', data.run_id],
                ['Attempts', `${data.attempts}, retried ${data.retries} times`],
                ['Parked', <Time key="parked" at={data.parked_at} />],
                ['Changed by', data.changed_by],
              ]}
            />
            <h3>Message</h3>
            <Json label="Message" value={data.message} />
          </div>
        )}
      </LoadedState>
    </Drawer>
  );
}

function LetterActions({ id }: { readonly id: string }): JSX.Element {
  const [isDropping, setDropping] = useState(false);
  const retry = useChange(
    (client) => client.request('POST /dead-letters/{id}/retry', { params: { id } }),
    { done: 'The message goes to its consumer again' },
  );
  const drop = useChange(
    (client) => client.request('DELETE /dead-letters/{id}', { params: { id } }),
    { done: 'The message was dropped', onDone: () => setDropping(false), showsFailure: true },
  );
  return (
    <div class="row">
      <Button tone="primary" isBusy={retry.isPending} onPress={() => retry.mutate()}>
        Retry
      </Button>
      <Button tone="danger" onPress={() => setDropping(true)}>
        Drop…
      </Button>
      {isDropping && (
        <ConfirmChange
          title="Drop the message?"
          verb="Drop the message"
          isDangerous
          change={drop}
          onClose={() => setDropping(false)}
        >
          <p>
            Its consumer never processes it. The message itself stays on its topic, for as long as
            that keeps messages.
          </p>
        </ConfirmChange>
      )}
    </div>
  );
}
