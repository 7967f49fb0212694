import { useInfiniteQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Input, LogOperation, LogMessage } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { dayMs } from '../../data/local-time.ts';
import { membersOf } from '../../data/members.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useTail } from '../../data/tail.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Empty, ErrorState } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  FilterText,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { ListState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { MessagesTable } from './operation.tsx';

type Body = NonNullable<Input<'POST /logs/operations'>['body']>;

const states = membersOf<Exclude<NonNullable<Body['states']>[number], 'all'>>({
  waiting: true,
  running: true,
  success: true,
  failed: true,
  timeout: true,
  cancelled: true,
});
const levels = membersOf<NonNullable<Body['levels']>[number]>({
  debug: true,
  info: true,
  warn: true,
  error: true,
});
const types = ['sync', 'action', 'auth', 'webhook', 'proxy', 'events', 'admin', 'deploy'] as const;

const periods = [
  { value: '1', label: '24 hours' },
  { value: '3', label: '3 days' },
] as const;

/** The whole period of logs that are kept, or the chosen part of it; on whole hours, so that pages fit together. */
function periodOf(days: string): NonNullable<Body['period']> {
  const end = new Date();
  end.setMinutes(60, 0, 0);
  const length = (Number(days) || 14) * dayMs;
  return { from: new Date(end.getTime() - length).toISOString(), to: end.toISOString() };
}

const oneOf = <Value extends string>(values: readonly Value[], text: string) => {
  const found = values.find((value) => value === text);
  return found === undefined ? undefined : [found];
};

/** What a log is limited to, beside its filters. */
interface LogSubject {
  readonly integration?: string;
  readonly connection?: string;
  readonly function?: string;
}

function useOperations(filters: UrlState, subject: LogSubject) {
  const { client, key } = useAccess();
  const one = (name: string) => {
    const value = filters.sent(name);
    return value === undefined ? undefined : [value];
  };
  const body: Body = {
    search: filters.sent('search'),
    states: oneOf(states, filters.get('state')),
    levels: oneOf(levels, filters.get('level')),
    types: one('type'),
    integrations: listOf(subject.integration) ?? one('integration'),
    connections: listOf(subject.connection) ?? one('connection'),
    syncs: listOf(subject.function) ?? one('function'),
    period: periodOf(filters.get('days')),
    limit: 100,
  };
  const list = useInfiniteQuery({
    queryKey: [key.id, 'POST /logs/operations', body],
    queryFn: ({ signal, pageParam: cursor }) =>
      client.request('POST /logs/operations', { body: { ...body, cursor }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.cursor,
    refetchInterval: 10_000,
  });
  return {
    items: list.data?.pages.flatMap(({ data }) => data) ?? [],
    total: list.data?.pages[0]?.pagination.total ?? null,
    isLoading: list.isPending,
    error: list.error,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    reload: () => void list.refetch(),
  };
}

export function Logs(): JSX.Element {
  const filters = useUrlState();
  const [isLive, setLive] = useState(false);
  return (
    <Page
      title="Logs"
      about="What happened: runs, requests, authorizations and webhooks, each with its messages."
      actions={
        <Button
          icon="activity"
          tone={isLive ? 'primary' : 'plain'}
          onPress={() => setLive(!isLive)}
        >
          {isLive ? 'Stop the live tail' : 'Live tail'}
        </Button>
      }
    >
      <Filters filters={filters} />
      {isLive ? <LiveTail filters={filters} /> : <Operations filters={filters} />}
    </Page>
  );
}

/** The log of a connection or of a function, as a part of its page. */
export function LogOf({ subject }: { readonly subject: LogSubject }): JSX.Element {
  const filters = useUrlState();
  return (
    <div class="stack">
      <FilterBar filters={filters}>
        <CommonFilters filters={filters} />
      </FilterBar>
      <Operations filters={filters} subject={subject} />
    </div>
  );
}

interface FiltersProps {
  readonly filters: UrlState;
}

const Filters = ({ filters }: FiltersProps): JSX.Element => (
  <FilterBar filters={filters}>
    <CommonFilters filters={filters} />
    <IntegrationFilter filters={filters} />
    <ConnectionFilter filters={filters} />
    <FilterText filters={filters} name="function" label="Function" type="search" />
  </FilterBar>
);

const CommonFilters = ({ filters }: FiltersProps): JSX.Element => (
  <>
    <FilterText
      filters={filters}
      name="search"
      label="Search"
      type="search"
      placeholder="Message, function or person"
      isWide
    />
    <FilterSelect filters={filters} name="type" label="Type" values={types} />
    <FilterSelect filters={filters} name="state" label="State" values={states} />
    <FilterSelect filters={filters} name="level" label="Level" values={levels} />
    <FilterSelect filters={filters} name="days" label="Period" none="14 days" values={periods} />
  </>
);

const everything: LogSubject = {};

interface OperationsProps extends FiltersProps {
  readonly subject?: LogSubject;
}

function Operations({ filters, subject = everything }: OperationsProps): JSX.Element {
  const { path } = useAccess();
  const list = useOperations(filters, subject);
  const sort = useSort();
  return (
    <ListState
      list={list}
      empty={
        <Empty title="Nothing was logged" command="npx svc logs --follow">
          No operation matches. Change a filter, or follow the log:
        </Empty>
      }
    >
      <Table
        label="Operations"
        columns={columnsOf(path).filter(
          ({ title }) => title !== 'Connection' || subject.connection === undefined,
        )}
        rows={list.items}
        keyOf={({ id }) => id}
        sort={list.hasMore ? undefined : sort}
      />
    </ListState>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<LogOperation>[] => [
  {
    title: 'Operation',
    fit: 'tight',
    sortBy: ({ operation }) => `${operation.type} ${operation.action}`,
    cell: ({ id, operation }) => (
      <Link href={path(pathOf('logs', id))}>
        {operation.type} {operation.action}
      </Link>
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ state }) => state,
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    title: 'Message',
    narrow: 'below',
    cell: ({ message }) => <Clip text={message} />,
  },
  {
    title: 'Connection',
    cell: ({ integrationId, connectionId }) => (
      <ConnectionLink integration={integrationId} id={connectionId} />
    ),
  },
  {
    title: 'Duration',
    fit: 'end',
    sortBy: ({ durationMs }) => durationMs,
    cell: ({ durationMs }) => duration(durationMs),
  },
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

type Query = NonNullable<Input<'GET /logs/tail'>['query']>;

/** The log as it is written, newest first. */
function LiveTail({ filters }: { readonly filters: UrlState }): JSX.Element {
  const { items, error } = useTail(
    'GET /logs/tail',
    { query: queryOf(filters) },
    { event: 'message', keyOf: ({ id }: LogMessage) => id },
  );
  if (error !== null) return <ErrorState failure={failureOf(error)} />;
  const search = filters.get('search').toLowerCase();
  const shown = items.filter(({ message }) => message.toLowerCase().includes(search));
  if (shown.length === 0)
    return (
      <Empty title="Waiting for messages">New messages appear here as they are written.</Empty>
    );
  return <MessagesTable messages={shown} />;
}

const listOf = (value: string | undefined) => (value === undefined ? undefined : [value]);

function queryOf(filters: UrlState): Query {
  const level = levels.find((one) => one === filters.get('level'));
  return {
    integrations: listOf(filters.sent('integration')),
    connections: listOf(filters.sent('connection')),
    syncs: listOf(filters.sent('function')),
    levels: level === undefined ? undefined : [level],
  };
}
