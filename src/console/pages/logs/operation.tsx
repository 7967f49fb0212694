import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { LogOperation, LogMessage } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge, Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { FilterBar, FilterText } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

/** One operation with its messages: the permalink of the log. */
export function Operation(): JSX.Element {
  const { path } = useAccess();
  const [, id = ''] = useParts();
  const operation = useRead(
    'GET /logs/operations/{operationId}',
    { params: { operationId: id } },
    { everyMs: 3_000 },
  );
  const data = operation.data?.data;
  return (
    <Page
      title={data === undefined ? 'Operation' : `${data.operation.type} ${data.operation.action}`}
      crumbs={[['Logs', path('/logs')]]}
      actions={
        data !== undefined && (
          <CopyButton text={JSON.stringify(data, null, 2)} label="Copy the operation as JSON" />
        )
      }
    >
      <LoadedState query={operation}>
        {({ data: shown }) => <Facts operation={shown} />}
      </LoadedState>
      <OperationMessages operationId={id} />
    </Page>
  );
}

/** What an operation wrote to the log. */
export function OperationMessages({ operationId }: { readonly operationId: string }): JSX.Element {
  const filters = useUrlState();
  const messages = useRead(
    'POST /logs/messages',
    { body: { operationId, search: filters.sent('search'), limit: 100 } },
    { everyMs: 3_000 },
  );
  return (
    <>
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="search" label="Search messages" type="search" isWide />
      </FilterBar>
      <LoadedState query={messages}>
        {({ data: list, pagination }) =>
          list.length === 0 ? (
            <Empty title="No messages" />
          ) : (
            <>
              <MessagesTable messages={list} />
              <span class="muted number">
                {list.length} of {pagination.total} messages, newest first
              </span>
            </>
          )
        }
      </LoadedState>
    </>
  );
}

function Facts({ operation }: { readonly operation: LogOperation }): JSX.Element {
  const { path } = useAccess();
  const { integrationId: integration, connectionId: connection, runId } = operation;
  return (
    <div class="stack">
      {operation.error !== undefined && <Notice tone="bad">{operation.error.message}</Notice>}
      <div class="card padded">
        <KeyValues
          rows={[
            ['State', <StateBadge key="state" state={operation.state} />],
            ['Message', operation.message],
            [
              'Connection',
              <ConnectionLink key="connection" integration={integration} id={connection} />,
            ],
            ['Function', operation.syncConfigName],
            [
              'Run',
              runId === null ? null : (
                <Link key="run" href={path(pathOf('runs', runId))}>
                  {runId}
                </Link>
              ),
            ],
            [
              'Request',
              operation.request === undefined
                ? null
                : `${operation.request.method} ${operation.request.url}`,
            ],
            ['Response', operation.response?.code],
            ['Started', <Time key="at" at={operation.startedAt} />],
            ['Duration', duration(operation.durationMs)],
          ]}
        />
      </div>
    </div>
  );
}

/** Messages of the log; each can be opened as JSON. */
export function MessagesTable({ messages }: { readonly messages: readonly LogMessage[] }) {
  const [open, setOpen] = useState<LogMessage | null>(null);
  return (
    <>
      <Table
        label="Messages"
        columns={columnsOf(setOpen)}
        onOpen={setOpen}
        rows={messages}
        keyOf={({ id }) => id}
      />
      {open !== null && (
        <Drawer title="Message" onClose={() => setOpen(null)}>
          <p>{open.message}</p>
          <Json label="Message as JSON" value={open} />
        </Drawer>
      )}
    </>
  );
}

const columnsOf = (show: (message: LogMessage) => void): readonly Column<LogMessage>[] => [
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ createdAt }) => <span class="mono muted">{createdAt.slice(11, 23)}</span>,
  },
  {
    title: 'Level',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ level }) => <StateBadge state={level} />,
  },
  { title: 'Message', narrow: 'top', cell: (row) => <Message row={row} /> },
  { title: 'Duration', fit: 'end', cell: ({ durationMs }) => duration(durationMs) },
  {
    title: '',
    fit: 'tight',
    cell: (row) => (
      <Button tone="quiet" isSmall onPress={() => show(row)}>
        Details
      </Button>
    ),
  },
];

function Message({ row }: { readonly row: LogMessage }): JSX.Element {
  const { request, response, message, error } = row;
  if (request === undefined)
    return (
      <span class="clip" title={[message, error?.message].filter(Boolean).join('\n')}>
        {message}
      </span>
    );
  const isFailed = response === undefined || response.code >= 400;
  return (
    <span class="row">
      <Badge tone={isFailed ? 'bad' : 'good'}>{response?.code ?? 'no response'}</Badge>
      <span class="clip mono grow" title={`${request.method} ${request.url}`}>
        {request.method} {request.url}
      </span>
    </span>
  );
}
