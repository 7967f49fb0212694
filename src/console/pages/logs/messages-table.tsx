import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LogMessage } from '#client/index.ts';
import { Badge, StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration } from '../../design/time.tsx';

/** Messages of the log; each can be opened as JSON. */
export function MessagesTable({ messages }: { readonly messages: readonly LogMessage[] }) {
  const [open, setOpen] = useState<LogMessage | null>(null);
  return (
    <>
      <Table label="Messages" columns={columnsOf(setOpen)} rows={messages} keyOf={({ id }) => id} />
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
    cell: ({ createdAt }) => <span class="mono muted">{createdAt.slice(11, 23)}</span>,
  },
  { title: 'Level', fit: 'tight', cell: ({ level }) => <StateBadge state={level} /> },
  { title: 'Message', cell: (row) => <Message row={row} /> },
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
      <span class="clip" title={error?.message ?? message}>
        {message}
      </span>
    );
  const isFailed = response === undefined || response.code >= 400;
  return (
    <span class="row">
      <Badge tone={isFailed ? 'bad' : 'good'}>{response?.code ?? 'no response'}</Badge>
      <span class="clip mono grow" title={request.url}>
        {request.method} {request.url}
      </span>
    </span>
  );
}
