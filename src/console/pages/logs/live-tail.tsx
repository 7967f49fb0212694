import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Client, Input, LogMessage } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import type { UrlState } from '../../data/url-state.ts';
import { Empty, ErrorState } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { MessagesTable } from './messages-table.tsx';

type Query = NonNullable<Input<'GET /logs/tail'>['query']>;

/** The newest that are kept in the page. */
const keptMessages = 500;

/** The log as it is written, newest first. */
export function LiveTail({ filters }: { readonly filters: UrlState }): JSX.Element {
  const { client } = useAccess();
  const [messages, setMessages] = useState<readonly LogMessage[]>([]);
  const [error, setError] = useState<unknown>(null);
  const text = JSON.stringify(queryOf(filters));
  useEffect(() => {
    const stop = new AbortController();
    setMessages([]);
    setError(null);
    follow(client, JSON.parse(text) as Query, stop.signal, (message) =>
      setMessages((existing) => [message, ...existing].slice(0, keptMessages)),
    ).catch((failure: unknown) => {
      if (!stop.signal.aborted) setError(failure);
    });
    return () => stop.abort();
  }, [client, text]);
  if (error !== null) return <ErrorState failure={failureOf(error)} />;
  const search = filters.get('search').toLowerCase();
  const shown = messages.filter(({ message }) => message.toLowerCase().includes(search));
  if (shown.length === 0)
    return (
      <Empty title="Waiting for messages">New messages appear here as they are written.</Empty>
    );
  return <MessagesTable messages={shown} />;
}

async function follow(
  client: Client,
  query: Query,
  signal: AbortSignal,
  show: (message: LogMessage) => void,
): Promise<void> {
  for await (const { data } of client.events('GET /logs/tail', { query, signal }))
    // The service guarantees the shape.
    show(data as LogMessage);
}

const listOf = (value: string | undefined) => (value === undefined ? undefined : [value]);
const levels = ['debug', 'info', 'warn', 'error'] as const;

function queryOf(filters: UrlState): Query {
  const level = levels.find((one) => one === filters.get('level'));
  return {
    integrations: listOf(filters.sent('integration')),
    connections: listOf(filters.sent('connection')),
    syncs: listOf(filters.sent('function')),
    levels: level === undefined ? undefined : [level],
  };
}
