import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { useConnection, type ConnectionName, type ShownConnection } from './use-connection.ts';

/** What fails on the connection now; nothing while it works. */
export function Failing({ name }: { readonly name: ConnectionName }): JSX.Element | null {
  const { data: connection } = useConnection(name);
  if (connection === undefined || connection.errors.length === 0) return null;
  return (
    <div class="stack">
      {connection.errors.map((error) => (
        <Notice key={error.type} tone="bad">
          {error.type === 'auth' ? <Refused error={error} /> : <FailingSync error={error} />}
        </Notice>
      ))}
    </div>
  );
}

interface ErrorProps {
  readonly error: ShownConnection['errors'][number];
}

const advice = 'What to do: ';
/** The log follows the failure. */
const logEveryMs = 3_000;

/** In the words of the log, where they can be read. */
function Refused({ error }: ErrorProps): JSX.Element {
  const { path, can } = useAccess();
  const { data: log } = useRead(
    'POST /logs/messages',
    { body: { operationId: error.log_id, limit: 20 } },
    { everyMs: logEveryMs, isEnabled: can('environment:logs:read') },
  );
  const messages = log?.data.map(({ message }) => message) ?? [];
  const why = log?.data.find(({ level }) => level === 'error')?.message;
  const fix = messages.find((message) => message.startsWith(advice))?.slice(advice.length);
  return (
    <>
      <p>
        <b>This connection fails:</b> {why ?? 'the provider refused its credentials.'}
      </p>
      <p>
        <b>{advice}</b>
        {fix ??
          'Ask the owner of the account to connect again, or reconnect under Authentication.'}{' '}
        <Link href={path(pathOf('logs', error.log_id))}>The log of the failure</Link>
      </p>
    </>
  );
}

function FailingSync({ error }: ErrorProps): JSX.Element {
  const { path } = useAccess();
  return (
    <>
      <p>
        <b>This connection fails:</b> {error.message ?? 'its last sync failed.'}
      </p>
      <p>
        Fix what the run names, then run the sync again; the first run that succeeds ends this.{' '}
        <Link href={path(pathOf('runs', error.log_id))}>The run that failed</Link>
      </p>
    </>
  );
}
