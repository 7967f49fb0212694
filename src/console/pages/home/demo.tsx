import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { ConnectToken } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { useSyncs } from '../connections/use-syncs.ts';

const integration = 'demo-oauth';

/** Sets the demo up and opens the connect page for it, in a window of its own. */
export const useTryDemo = () =>
  useChange(
    async (client) => {
      await client.request('POST /demo');
      const body = { end_user: { id: 'console-user' }, allowed_integrations: [integration] };
      return (await client.request('POST /connect/sessions', { body })).data;
    },
    { onDone: ({ connect_link: link }) => void window.open(link, '_blank', 'noopener') },
  );

/** Waits for the connection and its first records, and shows them. */
export function DemoProgress({ session }: { readonly session: ConnectToken }): JSX.Element {
  const query = { integrationId: [integration], credentials: 'none', limit: 1 } as const;
  const { data } = useRead('GET /connections', { query }, { everyMs: 1_000 });
  const connection = data?.connections[0]?.connection_id;
  if (connection !== undefined) return <FirstRecords connection={connection} />;
  return (
    <Notice tone="good">
      <p>
        The demo is set up. Connect its account in the window that is open; the records then appear
        here.
      </p>
      <a href={session.connect_link} target="_blank" rel="noopener noreferrer">
        Open it again
      </a>
    </Notice>
  );
}

function FirstRecords({ connection }: { readonly connection: string }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const { data: syncs = [] } = useSyncs({ integration, connection }, { isLive: true });
  // While it runs, the records are only a part. A failed sync leads to its page of the connection.
  const ended = syncs.find(
    ({ latestExecutionStatus: status }) => status === 'SUCCESS' || status === 'ERROR',
  );
  const tab = ended?.latestExecutionStatus === 'ERROR' ? 'syncs' : 'records';
  useEffect(() => {
    if (ended === undefined) return;
    navigate(path(`${pathOf('connections', integration, connection)}/${tab}`));
  }, [ended === undefined]);
  return <Notice tone="good">Connected. The first sync is running…</Notice>;
}
