import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DeadLetter, Input } from '../../../client/index.ts';
import { useChange, useList, useRead } from '../../data/read.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { FilterSelect, FilterText } from '../../shell/filter.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

const states = ['parked', 'retrying', 'resolved', 'dropped'] as const;

function useDeadLetters(filters: UrlState) {
  const query: NonNullable<Input<'GET /dead-letters'>['query']> = {
    state: states.find((state) => state === filters.get('state')),
    consumer: filters.sent('consumer'),
    topic: filters.sent('topic'),
    limit: 100,
  };
  return useList('GET /dead-letters', { query }, ({ data }) => data, { everyMs: 10_000 });
}

export function DeadLetters(): JSX.Element {
  const { can } = useAccess();
  const filters = useUrlState();
  const list = useDeadLetters(filters);
  const open = filters.sent('id');
  const parked = list.items.filter(({ state }) => state === 'parked');
  return (
    <Page
      title="Dead letters"
      about="Messages that a consumer gave up after its attempts."
      actions={can('account:dead-letters:write') && parked.length > 0 && <Bulk letters={parked} />}
    >
      <div class="filters" role="search">
        <FilterSelect filters={filters} name="state" label="State" values={states} />
        <FilterText filters={filters} name="consumer" label="Consumer" type="search" isWide />
        <FilterText filters={filters} name="topic" label="Topic" type="search" isWide />
      </div>
      <ListState
        list={list}
        empty={
          <Empty title="No dead letters" command="npx svc dlq list">
            Every message was processed, or none matches the filters.
          </Empty>
        }
      >
        <Table label="Dead letters" columns={columns} rows={list.items} keyOf={({ id }) => id} />
      </ListState>
      {open !== undefined && <LetterDrawer id={open} onClose={() => filters.set({ id: '' })} />}
    </Page>
  );
}

const columns: readonly Column<DeadLetter>[] = [
  { title: 'Consumer', cell: ({ id, consumer }) => <OpenLink id={id} text={consumer} /> },
  { title: 'State', fit: 'tight', cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: 'Error',
    cell: ({ error }) => (
      <span class="clip" title={error?.message}>
        {error === null ? '–' : `${error.code}: ${error.message}`}
      </span>
    ),
  },
  {
    title: 'Position',
    cell: ({ topic, partition, offset }) => (
      <span class="clip mono">
        {topic} {partition}/{offset}
      </span>
    ),
  },
  { title: 'Attempts', fit: 'end', cell: ({ attempts }) => attempts },
  { title: 'Parked', fit: 'tight', cell: ({ parked_at: at }) => <Time at={at} /> },
];

/** Retries or drops all parked letters that are shown, one request for each. */
function Bulk({ letters }: { readonly letters: readonly DeadLetter[] }): JSX.Element {
  const [verb, setVerb] = useState<'retry' | 'drop' | null>(null);
  const change = useChange(
    async (client, what: 'retry' | 'drop') => {
      for (const { id } of letters) {
        const params = { id };
        await (what === 'retry'
          ? client.request('POST /dead-letters/{id}/retry', { params })
          : client.request('DELETE /dead-letters/{id}', { params }));
      }
    },
    { done: 'Requested for all', onDone: () => setVerb(null), showsFailure: true },
  );
  return (
    <>
      <Button onPress={() => setVerb('retry')}>Retry all shown…</Button>
      <Button tone="danger" onPress={() => setVerb('drop')}>
        Drop all shown…
      </Button>
      {verb !== null && (
        <ConfirmChange
          title={`${verb === 'retry' ? 'Retry' : 'Drop'} ${letters.length} dead letters?`}
          verb={verb === 'retry' ? 'Retry all' : 'Drop all'}
          isDangerous={verb === 'drop'}
          change={{ ...change, mutate: () => change.mutate(verb) }}
          onClose={() => setVerb(null)}
        >
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
                ['Integration', data.integration],
                ['Connection', data.connection_id],
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
  const retry = useChange(
    (client) => client.request('POST /dead-letters/{id}/retry', { params: { id } }),
    { done: 'The message goes to its consumer again' },
  );
  const drop = useChange(
    (client) => client.request('DELETE /dead-letters/{id}', { params: { id } }),
    { done: 'The message was dropped' },
  );
  return (
    <div class="row">
      <Button tone="primary" isBusy={retry.isPending} onPress={() => retry.mutate()}>
        Retry
      </Button>
      <Button tone="danger" isBusy={drop.isPending} onPress={() => drop.mutate()}>
        Drop
      </Button>
    </div>
  );
}
