import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import {
  ApiError,
  type Client,
  type Projection as ProjectionSummary,
  type Projection as Shown,
  type ProjectionGeneration,
} from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useRead, useChange } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function Projections(): JSX.Element {
  const { path } = useAccess();
  const sort = useSort();
  const query = useRead('GET /projections', {}, { everyMs: 3_000 });
  return (
    <Page
      title="Projections"
      about="Tables that the API and queries read, fed from topics. Each can be rebuilt from the log while it is read. Those of projects bear the name of their environment."
    >
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Projections"
            columns={columnsOf(path)}
            rows={data}
            sort={sort}
            keyOf={({ name }) => name}
          />
        )}
      </LoadedState>
    </Page>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<ProjectionSummary>[] => [
  {
    title: 'Name',
    cell: ({ name }) => <Link href={path(pathOf('projections', name))}>{name}</Link>,
  },
  {
    title: 'Generations',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ generations }) => (
      <span class="row">
        {generations.map(({ generation, state }) => (
          <StateBadge key={generation} state={state} />
        ))}
      </span>
    ),
  },
  { title: 'Topic', narrow: 'below', cell: ({ topic }) => <Clip text={topic} isMono /> },
  {
    title: 'Position',
    fit: 'end',
    cell: ({ position, end }) => `${position.toLocaleString('en')} of ${end.toLocaleString('en')}`,
  },
  {
    title: 'Lag',
    fit: 'end',
    narrow: 'below end',
    sortBy: ({ lag }) => lag,
    cell: ({ lag }) => lag.toLocaleString('en'),
  },
  {
    title: 'Rows',
    fit: 'end',
    sortBy: ({ rows }) => rows,
    cell: ({ rows }) => rows.toLocaleString('en'),
  },
];

export function Projection(): JSX.Element {
  const { can, path } = useAccess();
  const [, name = ''] = useParts();
  const read = useRead('GET /projections/{name}', { params: { name } }, { everyMs: 2_000 });
  // Deleted while it is shown.
  const isGone = read.error instanceof ApiError && read.error.code === 'not_found';
  const query = isGone ? { ...read, data: undefined } : read;
  const data = query.data?.data;
  return (
    <Page
      title={name}
      crumbs={[['Projections', path('/projections')]]}
      actions={
        data !== undefined && can('account:projections:write') && <Actions projection={data} />
      }
    >
      <LoadedState query={query}>
        {({ data: shown }) => (
          <div class="stack">
            {shown.generations.map((generation) => (
              <Generation
                key={generation.generation}
                name={shown.name}
                generation={generation}
                isRead={generation.generation === shown.active_generation}
              />
            ))}
          </div>
        )}
      </LoadedState>
    </Page>
  );
}

type Change =
  | 'rebuild'
  | 'verify'
  | 'switch'
  | 'force'
  | 'rollback'
  | 'pause'
  | 'resume'
  | 'discard';

const texts: Readonly<Record<Change, readonly [verb: string, about: string]>> = {
  rebuild: [
    'Rebuild',
    'New tables are filled from the log beside those that are read. Nothing is read from them before they are switched.',
  ],
  verify: [
    'Verify',
    'The new tables are compared with those that are read, by counts and checksums.',
  ],
  switch: [
    'Switch',
    'The verified generation is read from now on. The former one is kept for a rollback.',
  ],
  force: [
    'Switch anyway',
    'The generation that failed for some records is read from now on: their rows are no longer shown. The former one is kept for a rollback.',
  ],
  rollback: ['Roll back', 'The former generation is read again.'],
  pause: [
    'Pause',
    'The generation that is built is not fed until it is resumed. Generations cannot be compared or switched before.',
  ],
  resume: ['Resume', 'The paused generation is fed again, from its position.'],
  discard: ['Discard', 'The generation beside the one that is read is deleted with its tables.'],
};

function request(client: Client, change: Change, shown: Shown) {
  const params = { name: shown.name };
  switch (change) {
    case 'rebuild':
      return client.request('POST /projections/{name}/rebuild', { params });
    case 'verify':
      return client.request('POST /projections/{name}/verify', { params });
    case 'switch':
      return client.request('POST /projections/{name}/switch', { params });
    case 'force':
      return client.request('POST /projections/{name}/switch', { params, body: { force: true } });
    case 'rollback':
      return client.request('POST /projections/{name}/rollback', { params });
    case 'pause':
      return client.request('POST /projections/{name}/pause', {
        params,
        body: { generation: besideActive(shown)?.generation },
      });
    case 'resume':
      return client.request('POST /projections/{name}/resume', {
        params,
        body: { generation: pausedOf(shown)?.generation },
      });
    case 'discard':
      return client.request('DELETE /projections/{name}/generations/{generation}', {
        params: { ...params, generation: besideActive(shown)?.generation ?? 0 },
      });
  }
}

const besideActive = ({ active_generation: active, generations }: Shown) =>
  generations.find(({ generation }) => generation !== active);

const pausedOf = ({ generations }: Shown) =>
  generations.find(({ is_paused: isPaused }) => isPaused);

/** The steps that are possible now: build, verify, switch, and the way back. */
function stepsOf(shown: Shown): readonly Change[] {
  const other = besideActive(shown);
  if (pausedOf(shown) !== undefined)
    return other === undefined ? ['resume'] : ['resume', 'discard'];
  switch (other?.state) {
    case undefined:
      return shown.generations.some(({ state }) => state === 'building') ? ['pause'] : ['rebuild'];
    // Its tables are being deleted.
    case 'retiring':
      return [];
    case 'kept':
      return ['rollback', 'pause', 'discard'];
    case 'building':
      return ['pause', 'discard'];
    case 'ready':
      if (other.new_failures !== null) return ['force', 'verify', 'pause', 'discard'];
      return other.verification?.state === 'passed'
        ? ['switch', 'verify', 'pause', 'discard']
        : ['verify', 'pause', 'discard'];
    default:
      return ['discard'];
  }
}

function Actions({ projection }: { readonly projection: Shown }): JSX.Element {
  const [open, setOpen] = useState<Change | null>(null);
  const change = useChange((client, what: Change) => request(client, what, projection), {
    done: 'Requested',
    onDone: () => setOpen(null),
    showsFailure: true,
  });
  return (
    <>
      {stepsOf(projection).map((step) => (
        <Button
          key={step}
          tone={step === 'discard' ? 'danger' : step === 'switch' ? 'primary' : 'plain'}
          onPress={() => setOpen(step)}
        >
          {texts[step][0]}…
        </Button>
      ))}
      {open !== null && (
        <ConfirmChange
          title={`${texts[open][0]} ${projection.name}?`}
          verb={texts[open][0]}
          isDangerous={open === 'discard' || open === 'rollback' || open === 'force'}
          change={{ ...change, mutate: () => change.mutate(open) }}
          onClose={() => {
            change.reset();
            setOpen(null);
          }}
        >
          <p>{texts[open][1]}</p>
        </ConfirmChange>
      )}
    </>
  );
}

interface GenerationProps {
  /** Of its projection. */
  readonly name: string;
  readonly generation: ProjectionGeneration;
  readonly isRead: boolean;
}

function Generation({ name, generation: shown, isRead }: GenerationProps): JSX.Element {
  const percent = Math.round(shown.progress * 100);
  return (
    <div class="card">
      <div class="card-head">
        <h2>
          Generation {shown.generation}
          {isRead ? ', which is read' : ''}
          {isRead && shown.state === 'building' ? ' while it is filled' : ''}
        </h2>
        <StateBadge state={shown.is_paused ? 'paused' : shown.state} />
      </div>
      <div class="card-body stack">
        {shown.failure !== null && <Notice tone="bad">{shown.failure}</Notice>}
        {shown.new_failures !== null && <HeldBack name={name} count={shown.new_failures} />}
        {shown.progress < 1 && (
          <label class="field">
            <span class="label number">
              {percent} %
              {shown.seconds_left === null ? '' : `, ${duration(shown.seconds_left * 1000)} left`}
            </span>
            <progress class="progress" max={1} value={shown.progress} />
          </label>
        )}
        <KeyValues
          rows={[
            [
              'Position',
              `${shown.position.toLocaleString('en')} of ${shown.end.toLocaleString('en')}`,
            ],
            ['Lag', shown.lag.toLocaleString('en')],
            ['Rows', shown.rows.toLocaleString('en')],
            ['Size', `${(shown.bytes / 1024 / 1024).toFixed(1)} MiB`],
            ['Tables', shown.tables.join(', ')],
            ['Rate', shown.rate_per_s === null ? null : `${Math.round(shown.rate_per_s)} per s`],
            ['Ready', shown.ready_at === null ? null : <Time key="ready" at={shown.ready_at} />],
            [
              'Switched',
              shown.switched_at === null ? null : <Time key="switched" at={shown.switched_at} />,
            ],
          ]}
        />
        {shown.verification !== null && <Verification verification={shown.verification} />}
        <Partitions generation={shown} />
      </div>
    </div>
  );
}

/** Why a generation does not replace the one that is read. @param name such as `dev.contacts` */
function HeldBack({ name, count }: { readonly name: string; readonly count: number }): JSX.Element {
  const at = name.lastIndexOf('.');
  return (
    <Notice tone="warn">
      <p>
        Not switched: its mapping failed for {counted(count, 'record')} of which the table that is
        read has rows. Deploy a corrected mapping, or switch anyway.
      </p>
      <p>
        List the failures with{' '}
        <code>
          svc projections failures {name.slice(at + 1)} -e {name.slice(0, at)}
        </code>
      </p>
    </Notice>
  );
}

type GenerationVerification = NonNullable<ProjectionGeneration['verification']>;

function Verification({
  verification,
}: {
  readonly verification: GenerationVerification;
}): JSX.Element {
  const { state, differences, expected_rows: expected, found_rows: found, failure } = verification;
  return (
    <Notice tone={differences > 0 || failure !== null ? 'bad' : 'info'}>
      Verification {state}: {found.toLocaleString('en')} of {expected.toLocaleString('en')} rows,{' '}
      {differences.toLocaleString('en')} differences. {failure}
    </Notice>
  );
}

const Partitions = ({ generation }: { readonly generation: ProjectionGeneration }): JSX.Element => (
  <Table
    label={`Partitions of generation ${generation.generation}`}
    rows={generation.partitions}
    keyOf={({ partition }) => String(partition)}
    columns={[
      { title: 'Partition', cell: ({ partition }) => partition },
      { title: 'Position', fit: 'end', cell: ({ position }) => position.toLocaleString('en') },
      { title: 'End', fit: 'end', cell: ({ end }) => end.toLocaleString('en') },
      { title: 'Lag', fit: 'end', cell: ({ lag }) => lag.toLocaleString('en') },
    ]}
  />
);
