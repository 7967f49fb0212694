import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { localTimeOf } from '../../data/local-time.ts';
import { pathOf } from '../../data/route.ts';
import { Table } from '../../design/table.tsx';
import { accountKeyOf, useAccessOf, useSession } from '../../session/context.tsx';
import type { RunDetail } from './run-detail.ts';

type RunEvent = RunDetail['events'][number];

/** Where the run wrote on the topics, with links to the messages for those who may read them. */
export function Positions({ run }: { readonly run: RunDetail }): JSX.Element {
  const account = useAccessOf(accountKeyOf(useSession()));
  const canRead = account?.can('account:topics:read_messages') === true;
  return (
    <>
      <h2>Events</h2>
      <Table
        label="Events"
        rows={run.events}
        keyOf={({ topic, model, partition }) => `${topic} ${model ?? ''} ${partition}`}
        columns={[
          { title: 'Topic', cell: ({ topic }) => <span class="clip mono">{topic}</span> },
          { title: 'Model', cell: ({ model }) => model ?? '–' },
          { title: 'Messages', fit: 'end', cell: ({ count }) => count.toLocaleString('en') },
          {
            title: 'Position',
            fit: 'tight',
            cell: (written) =>
              canRead ? (
                <Link href={account.path(messagesOf(written, run))}>{positionOf(written)}</Link>
              ) : (
                positionOf(written)
              ),
          },
        ]}
      />
    </>
  );
}

function positionOf({ partition, first_offset: first, last_offset: last }: RunEvent): string {
  if (first === null) return `${partition}/ up to ${last}`;
  return first === last ? `${partition}/${last}` : `${partition}/${first} to ${last}`;
}

/** The messages from the first one on; where it is not known, from the start of the run on. */
function messagesOf({ topic, partition, first_offset: first }: RunEvent, run: RunDetail): string {
  const from: Record<string, string> =
    first === null
      ? { by: 'since', since: localTimeOf(new Date(run.started_at ?? run.queued_at)) }
      : { by: 'offset', offset: String(first) };
  const search = new URLSearchParams({ partition: String(partition), ...from });
  return `${pathOf('topics', topic, 'messages')}?${search.toString()}`;
}
