import type { JSX } from 'preact';
import type { Answer } from '#client/index.ts';
import { instantOf } from '../../data/local-time.ts';
import { useList } from '../../data/read.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { RecordDrawer } from './record-drawer.tsx';
import type { ConnectionName } from './use-connection.ts';
import { useSyncs } from './use-syncs.ts';

type Record_ = Answer<'GET /records'>['records'][number];

/** The models that the connection has records of, and the records of one. */
export function ConnectionRecords({ name }: { readonly name: ConnectionName }): JSX.Element {
  const query = useSyncs(name);
  return (
    <LoadedState query={query}>
      {(syncs) => {
        const models = syncs.flatMap(({ variant, recordCount }) =>
          Object.entries(recordCount).map(([model, count]) => ({ model, variant, count })),
        );
        if (models.length === 0)
          return (
            <Empty title="No records" command="npx svc sync run <sync>">
              A sync of this connection saves them:
            </Empty>
          );
        return <Models name={name} models={models} />;
      }}
    </LoadedState>
  );
}

interface Model {
  readonly model: string;
  readonly variant: string;
  readonly count: number;
}

function Models({
  name,
  models,
}: {
  readonly name: ConnectionName;
  readonly models: readonly Model[];
}) {
  const filters = useUrlState();
  const wanted = filters.sent('model');
  const current =
    wanted === undefined
      ? models[0]
      : models.find(
          ({ model, variant }) =>
            model === wanted && variant === (filters.sent('variant') ?? 'base'),
        );
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Models">
        {models.map((one) => (
          <Button
            key={`${one.model} ${one.variant}`}
            tone={one === current ? 'primary' : 'plain'}
            isSmall
            onPress={() => filters.set({ model: one.model, variant: one.variant, id: '' })}
          >
            {one.variant === 'base' ? one.model : `${one.model} · ${one.variant}`}
            <span class="number">{one.count.toLocaleString('en')}</span>
          </Button>
        ))}
      </div>
      {current === undefined ? (
        <UnknownModel name={wanted ?? ''} models={models} />
      ) : (
        <>
          <RecordFilters filters={filters} />
          <RecordList name={name} model={current} filters={filters} />
        </>
      )}
    </div>
  );
}

interface UnknownModelProps {
  readonly name: string;
  readonly models: readonly Model[];
}

const UnknownModel = ({ name, models }: UnknownModelProps): JSX.Element => (
  <Notice tone="warn">
    <p>
      No sync of this connection has saved records of the model “{name}”. It has{' '}
      {models.map(({ model }) => model).join(', ')}.
    </p>
    <p>Choose one of them, or deploy a sync that saves the model, and run it.</p>
  </Notice>
);

const RecordFilters = ({ filters }: { readonly filters: UrlState }): JSX.Element => (
  <FilterBar filters={filters}>
    <FilterText
      filters={filters}
      name="ids"
      label="Ids"
      type="search"
      placeholder="One id, or several with commas"
      isWide
    />
    <FilterSelect
      filters={filters}
      name="action"
      label="Last action"
      values={['added', 'updated', 'deleted', 'pruned']}
    />
    <FilterText filters={filters} name="as_of" label="As of (local time)" type="datetime-local" />
  </FilterBar>
);

interface RecordListProps {
  readonly name: ConnectionName;
  readonly model: Model;
  readonly filters: UrlState;
}

function RecordList({ name, model, filters }: RecordListProps): JSX.Element {
  const { integration, connection } = name;
  const ids = filters
    .sent('ids')
    ?.split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  const list = useList(
    'GET /records',
    {
      headers: { 'provider-config-key': integration, 'connection-id': connection },
      query: {
        model: model.model,
        variant: model.variant,
        limit: 100,
        filter: filters.sent('action'),
        ids: ids === undefined || ids.length === 0 ? undefined : ids,
        as_of: instantOf(filters.get('as_of')),
      },
    },
    ({ records }) => records,
  );
  const open = filters.sent('id');
  return (
    <>
      <ListState list={list} empty={<Empty title="No record matches">Change a filter.</Empty>}>
        <Table
          label={`Records of ${model.model}`}
          rows={list.items}
          keyOf={({ id }) => id}
          columns={columns}
        />
      </ListState>
      {open !== undefined && (
        <RecordDrawer name={name} model={model} id={open} onClose={() => filters.set({ id: '' })} />
      )}
    </>
  );
}

const preview = ({ id: _id, _svc_metadata: _metadata, ...payload }: Record_): string =>
  JSON.stringify(payload).slice(0, 300);

const columns = [
  {
    title: 'Id',
    fit: 'short' as const,
    cell: ({ id }: Record_) => <OpenLink id={id} text={id} />,
  },
  {
    title: 'Last action',
    fit: 'tight' as const,
    narrow: 'top end' as const,
    cell: ({ _svc_metadata: { last_action: action } }: Record_) => <StateBadge state={action} />,
  },
  {
    title: 'Payload',
    narrow: 'below' as const,
    cell: (row: Record_) => <Clip text={preview(row)} isMono />,
  },
  {
    title: 'Modified',
    fit: 'tight' as const,
    narrow: 'below end' as const,
    cell: ({ _svc_metadata: { last_modified_at: at } }: Record_) => <Time at={at} />,
  },
];
