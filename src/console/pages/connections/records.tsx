import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { instantOf } from '../../data/local-time.ts';
import { useList, useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { Diff } from '../../design/diff.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Time, exact } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { Revert } from '../runs/run-actions.tsx';
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

type Change = Answer<'GET /records/history'>['changes'][number];

interface RecordDrawerProps {
  readonly name: ConnectionName;
  readonly model: { readonly model: string; readonly variant: string };
  readonly id: string;
  readonly onClose: () => void;
}

/** Every version of one record: who wrote it, what it changed, and how the record was. */
function RecordDrawer({ name, model, id, onClose }: RecordDrawerProps): JSX.Element {
  const list = useList(
    'GET /records/history',
    {
      headers: { 'provider-config-key': name.integration, 'connection-id': name.connection },
      query: { model: model.model, variant: model.variant, id, limit: 50 },
    },
    ({ changes }) => changes,
  );
  const { can } = useAccess();
  const [at, setAt] = useState(0);
  const version = list.items[at];
  return (
    <Drawer title={id} onClose={onClose}>
      <ListState list={list} empty={<Empty title="No history of this record is kept" />}>
        {list.items.length > 1 && (
          <label class="field">
            <span class="label">As of</span>
            <input
              type="range"
              min={0}
              max={list.items.length - 1}
              value={list.items.length - 1 - at}
              aria-valuetext={version === undefined ? '' : exact(new Date(version.at))}
              onInput={({ currentTarget }) =>
                setAt(list.items.length - 1 - Number(currentTarget.value))
              }
            />
          </label>
        )}
        {version !== undefined && (
          <>
            <div class="row">
              {can('environment:records:write') && version.run_id !== null && (
                <Revert runId={version.run_id} />
              )}
              {can('environment:records:write') && <Prune name={name} model={model} id={id} />}
            </div>
            <Version version={version} before={list.items[at + 1]} />
          </>
        )}
      </ListState>
    </Drawer>
  );
}

interface VersionProps {
  readonly version: Change;
  readonly before: Change | undefined;
}

function Version({ version, before }: VersionProps): JSX.Element {
  const { path } = useAccess();
  return (
    <div class="stack">
      <KeyValues
        rows={[
          ['Action', <StateBadge key="action" state={version.action} />],
          ['At', <Time key="at" at={version.at} />],
          ['Version', version.version],
          ['By', version.actor],
          [
            'Run',
            version.run_id === null ? null : (
              <Link key="run" href={path(pathOf('runs', version.run_id))}>
                {version.sync ?? version.run_id}
              </Link>
            ),
          ],
          ['First seen', <Time key="first" at={version.first_seen_at} />],
        ]}
      />
      {version.payload_state !== 'kept' && (
        <Notice tone="warn">Payload of this version: {version.payload_state}.</Notice>
      )}
      {before !== undefined && (
        <>
          <h3>Changes</h3>
          <Diff before={before.payload} after={version.payload} />
        </>
      )}
      <h3>Payload</h3>
      <Json label="Payload" value={version.payload} />
    </div>
  );
}

interface PruneProps {
  readonly name: ConnectionName;
  readonly model: { readonly model: string; readonly variant: string };
  readonly id: string;
}

/** Empties the payloads of the model up to this record, in the order in which records were modified. */
function Prune({ name, model: { model, variant }, id }: PruneProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const prune = useChange((client) => pruneUntil(client, name, { model, variant }, id), {
    done: (count) => `Pruned ${counted(count, 'record')}`,
    onDone: () => setOpen(false),
    showsFailure: true,
  });
  return (
    <>
      <Button icon="trash" tone="danger" onPress={() => setOpen(true)}>
        Prune up to here…
      </Button>
      {isOpen && (
        <ConfirmChange
          title={`Prune records of ${model}?`}
          verb="Prune the records"
          isDangerous
          change={prune}
          onClose={() => setOpen(false)}
        >
          <p>
            The payload of <b>{id}</b>, and of each record of {model} that was last modified before
            it, is emptied. Ids and times stay; the next change at the provider fills a record
            again.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}

async function pruneUntil(
  client: Client,
  { integration, connection }: ConnectionName,
  ref: PruneProps['model'],
  id: string,
): Promise<number> {
  const headers = { 'provider-config-key': integration, 'connection-id': connection };
  const { records } = await client.request('GET /records', {
    headers,
    query: { ...ref, ids: [id] },
  });
  const cursor = records[0]?._svc_metadata.cursor;
  if (cursor === undefined) throw new Error(`The record ${id} is no longer there.`);
  for (let count = 0; ;) {
    const pruned = await client.request('PATCH /records/prune', {
      headers,
      body: { ...ref, until_cursor: cursor },
    });
    count += pruned.count;
    if (!pruned.has_more) return count;
  }
}
