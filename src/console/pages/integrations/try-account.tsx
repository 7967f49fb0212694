import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ConnectToken, Provider } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { FailureNotice, Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { hasApp } from './app-fields.tsx';

/** What the connect page reports (docs/connect-page.md#in-your-own-page). */
interface ConnectEvent {
  readonly type: 'open' | 'connect' | 'error' | 'close';
  readonly connectionId?: string;
  readonly code?: string;
  readonly message?: string;
  readonly logId?: string | null;
  readonly providerAnswer?: string | null;
  readonly providerWords?: string | null;
  readonly fix?: string | null;
}

type Outcome =
  | { readonly kind: 'connected'; readonly connection: string }
  | { readonly kind: 'refused'; readonly event: ConnectEvent };

const testUser = { id: 'console-test', display_name: 'Test account' } as const;

interface TryAccountProps {
  readonly integration: string;
  readonly provider: Provider;
}

/** Connects an account in a new window, and shows how that ended. */
export function TryAccount({ integration, provider }: TryAccountProps): JSX.Element {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [channel] = useState(() => crypto.randomUUID());
  const [name, setName] = useState<string>(testUser.display_name);
  const open = useTestSession({ integration, name, channel }, () => setOutcome(null));
  useConnectEvents(channel, (event) => {
    if (event.type === 'error') setOutcome({ kind: 'refused', event });
    if (event.type === 'connect' && event.connectionId !== undefined)
      setOutcome({ kind: 'connected', connection: event.connectionId });
  });
  const session = open.data;
  const isConnected = outcome?.kind === 'connected';
  return (
    <div class="stack guide">
      <section class="card padded stack">
        <h2>Connect a test account</h2>
        <p>
          Opens the connect page, as your users see it, in a new window. Sign in with an account of{' '}
          {provider.display_name} that may be used for tests.
        </p>
        {open.error !== null && <FailureNotice failure={failureOf(open.error)} />}
        <TextField
          label="Name of the connection"
          hint="What it is called in the console"
          value={name}
          onInput={setName}
        />
        <div>
          <Button
            tone={isConnected ? 'plain' : 'primary'}
            icon="external"
            isBusy={open.isPending}
            onPress={() => open.mutate()}
          >
            {session === undefined ? 'Connect a test account' : 'Connect once more'}
          </Button>
        </div>
        {session !== undefined && outcome === null && (
          <Waiting
            integration={integration}
            key={session.token}
            link={linkOf(session, channel)}
            onConnected={(connection) => setOutcome({ kind: 'connected', connection })}
          />
        )}
        {outcome?.kind === 'refused' && <Refused event={outcome.event} integration={integration} />}
        {outcome?.kind === 'connected' && (
          <Connected integration={integration} connection={outcome.connection} />
        )}
      </section>
      {hasApp(provider.auth_mode) && !isConnected && <UsualErrors provider={provider} />}
    </div>
  );
}

interface TestSessionProps {
  readonly integration: string;
  /** Of the connection. */
  readonly name: string;
  readonly channel: string;
}

/** Opens the connect page in a new window. */
function useTestSession({ integration, name, channel }: TestSessionProps, onStart: () => void) {
  return useChange(
    async (client) => {
      onStart();
      const user = { ...testUser, ...(name === '' ? {} : { display_name: name }) };
      const body = { end_user: user, allowed_integrations: [integration] };
      return (await client.request('POST /connect/sessions', { body })).data;
    },
    {
      showsFailure: true,
      onDone: (session) => void window.open(linkOf(session, channel), '_blank', 'noopener'),
    },
  );
}

/** The page reports on the channel that its link names. */
const linkOf = ({ connect_link: link }: ConnectToken, channel: string): string =>
  `${link}&channel=${channel}`;

function useConnectEvents(channel: string, onEvent: (event: ConnectEvent) => void): void {
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => {
    const events = new BroadcastChannel(`svc-connect-${channel}`);
    events.addEventListener('message', ({ data }) => latest.current(data as ConnectEvent));
    return () => events.close();
  }, [channel]);
}

interface WaitingProps {
  readonly integration: string;
  readonly link: string;
  readonly onConnected: (connection: string) => void;
}

/** A link that was opened elsewhere reports nothing here: its connection is found in the list. */
function Waiting({ integration, link, onConnected }: WaitingProps): JSX.Element {
  const { can } = useAccess();
  const [before, setBefore] = useState<string | null | undefined>(undefined);
  const query = {
    integrationId: [integration],
    endUserId: testUser.id,
    credentials: 'none',
    limit: 1,
  } as const;
  const isEnabled = can('environment:connections:list');
  const { data } = useRead('GET /connections', { query }, { everyMs: 2_000, isEnabled });
  const newest = data === undefined ? undefined : (data.connections[0]?.connection_id ?? null);
  useEffect(() => {
    if (before === undefined) setBefore(newest);
    else if (typeof newest === 'string' && newest !== before) onConnected(newest);
  }, [newest]);
  return (
    <Notice>
      <p role="status">Waiting for the sign-in. The connect page is open in another window.</p>
      <div class="row">
        <a href={link} target="_blank" rel="noopener noreferrer">
          Open it again
        </a>
        <CopyButton text={link} label="Copy the link" />
      </div>
    </Notice>
  );
}

interface RefusedProps {
  readonly integration: string;
  readonly event: ConnectEvent;
}

/** Why it failed: the provider's words, and what to do. */
function Refused({ integration, event }: RefusedProps): JSX.Element {
  const { can, path } = useAccess();
  const { message = '', providerAnswer, providerWords, fix, logId } = event;
  return (
    <div class="notice bad" role="alert">
      <Icon name="alert" />
      <div class="grow stack">
        <p>
          <b>The account was not connected.</b> {providerWords === null ? message : ''}
        </p>
        {typeof providerWords === 'string' && <blockquote>{providerWords}</blockquote>}
        {typeof fix === 'string' && (
          <p>
            <b>What to do:</b> {fix}
          </p>
        )}
        <div class="row">
          {typeof providerAnswer === 'string' && <code>{providerAnswer}</code>}
          {can('environment:integrations:update') && (
            <LinkButton isSmall href={path(`${pathOf('integrations', integration)}/settings`)}>
              Settings of the integration
            </LinkButton>
          )}
          {typeof logId === 'string' && can('environment:logs:read') && (
            <LinkButton isSmall href={path(pathOf('logs', logId))}>
              Log of the sign-in
            </LinkButton>
          )}
        </div>
      </div>
    </div>
  );
}

interface ConnectedProps {
  readonly integration: string;
  readonly connection: string;
}

function Connected({ integration, connection }: ConnectedProps): JSX.Element {
  const { path } = useAccess();
  return (
    <Notice tone="good">
      <p role="status">
        <b>The integration works: the test account is connected.</b> Deploy a template or functions
        of yours next, or call the provider through the proxy.
      </p>
      <div class="row">
        <Link href={path(pathOf('connections', integration, connection))}>Open the connection</Link>
        <Link href={path(`${pathOf('integrations', integration)}/templates`)}>Templates</Link>
        <Link href={path(`${pathOf('integrations', integration)}/functions`)}>Functions</Link>
      </div>
    </Notice>
  );
}

/** What providers show on pages of their own, from which nobody comes back. */
function UsualErrors({ provider }: { readonly provider: Provider }): JSX.Element {
  const { display_name: title, callback_url: url } = provider;
  const rows: readonly (readonly [shown: string, fix: ComponentChildren])[] = [
    [
      'Redirect URI mismatch, invalid redirect URI',
      url === null ? (
        'Enter the setup URL of this page in the settings of the app.'
      ) : (
        <span key="url">
          Enter exactly this address in the settings of the app: <code>{url}</code>{' '}
          <CopyButton text={url} label="Copy the callback URL" />
        </span>
      ),
    ],
    ['Unknown client, app not found', 'Copy the client id of the app once more.'],
    ['Invalid scope', 'Allow the scope for the app, or take it from the integration.'],
    [
      'App not verified, access blocked, needs approval',
      'Add the account as a test user of the app, publish the app, or have an administrator approve it.',
    ],
  ];
  return (
    <section class="card padded stack">
      <h2>If {title} shows an error and does not come back</h2>
      <dl class="key-values">
        {rows.map(([shown, fix]) => (
          <>
            <dt key={`${shown}-name`}>{shown}</dt>
            <dd key={shown}>{fix}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
