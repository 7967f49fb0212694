import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Subscription as Shown } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { Code } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { ChangeTarget } from './change-target.tsx';
import { NextChanges } from './next-changes.tsx';
import { Parked } from './parked.tsx';
import { feedStart, fromOf, StartFields } from './start-fields.tsx';
import { modelOf, Progress, targetOf } from './subscriptions.tsx';

export function Subscription(): JSX.Element {
  const { can, path } = useAccess();
  const [, name = '', tab = ''] = useParts();
  const query = useRead('GET /subscriptions/{name}', { params: { name } }, { everyMs: 5_000 });
  const parked = query.data?.data.parked ?? 0;
  const page = path(pathOf('subscriptions', name));
  const tabs = [
    { id: '', label: 'Position', href: page },
    { id: 'next', label: 'Next changes', href: `${page}/next` },
    {
      id: 'parked',
      label: parked === 0 ? 'Parked' : `Parked (${parked})`,
      href: `${page}/parked`,
    },
  ];
  return (
    <Page
      title={name}
      crumbs={[['Subscriptions', path('/subscriptions')]]}
      actions={
        query.data !== undefined &&
        can('environment:subscriptions:write') && (
          <>
            {query.data.data.target?.type === 'webhook' && (
              <ChangeTarget subscription={query.data.data} target={query.data.data.target} />
            )}
            <Move name={name} />
            {query.data.data.target?.type !== 'function' && <Delete name={name} />}
          </>
        )
      }
    >
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            {can('environment:subscriptions:consume') && (
              <LinkTabs label="Parts of the subscription" current={tab} tabs={tabs} />
            )}
            {tab === 'next' && <NextChanges name={name} isRead={data.target === null} />}
            {tab === 'parked' && <Parked name={name} isRead={data.target === null} />}
            {tab === '' && <Position subscription={data} />}
          </div>
        )}
      </LoadedState>
    </Page>
  );
}

function Position({ subscription }: { readonly subscription: Shown }): JSX.Element {
  const { can, path } = useAccess();
  const { name, provider_config_key: integration, connection_id: connection, model } = subscription;
  const { behind, parked, committed_at: committed, created_at: created } = subscription;
  const feed = new URLSearchParams({
    ...(integration === null ? {} : { integration }),
    ...(connection === null ? {} : { connection }),
    ...(model === null ? {} : { model }),
  });
  return (
    <>
      <div class="card padded stack">
        <KeyValues
          rows={[
            ['State', <Progress key="state" subscription={subscription} />],
            ['Behind', behind === 0 ? 'nothing' : `at most ${counted(behind, 'change')}`],
            [
              'Last commit',
              committed === null ? 'none yet' : <Time key="committed" at={committed} />,
            ],
            ['Parked', parked === 0 ? 'nothing' : counted(parked, 'change')],
            [
              'Connection',
              integration === null ? (
                (connection ?? 'all')
              ) : (
                <ConnectionLink key="connection" integration={integration} id={connection} />
              ),
            ],
            ['Model', modelOf(subscription) ?? 'all'],
            ['Target', targetOf(subscription) ?? 'read by a program'],
            ['Created', <Time key="created" at={created} />],
          ]}
        />
        {can('environment:changes:read') && (
          <Link href={path(`/changes?${feed.toString()}`)}>Follow these changes live</Link>
        )}
      </div>
      {subscription.target === null && (
        <div class="card padded stack">
          <h2>Read it</h2>
          <p class="muted">
            A program reads a page, processes it, and commits its cursor. What was not committed
            comes again. What it cannot process it parks, and goes on.
          </p>
          <Code label="Command" text={`npx svc subscriptions read ${name} --limit 100 --commit`} />
        </div>
      )}
    </>
  );
}

function Move({ name }: { readonly name: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [start, setStart] = useState(feedStart);
  const move = useChange(
    (client) =>
      client.request('POST /subscriptions/{name}/seek', {
        params: { name },
        body: { from: fromOf(start) },
      }),
    {
      done: `The subscription ${name} was moved`,
      onDone: () => setOpen(false),
      showsFailure: true,
    },
  );
  return (
    <>
      <Button onPress={() => setOpen(true)}>Move…</Button>
      {isOpen && (
        <Dialog title={`Move ${name}?`} onClose={() => setOpen(false)}>
          <ChangeForm change={move} verb="Move the subscription">
            <p>
              Its reader goes on from there with its next request: back, it gets changes again;
              forward, it does not get those in between. A page that it has read before cannot be
              committed any more. Parked changes stay parked.
            </p>
            <StartFields label="Move to" start={start} onChange={setStart} />
          </ChangeForm>
        </Dialog>
      )}
    </>
  );
}

function Delete({ name }: { readonly name: string }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) => client.request('DELETE /subscriptions/{name}', { params: { name } }),
    {
      done: `The subscription ${name} was deleted`,
      onDone: () => navigate(path('/subscriptions')),
      showsFailure: true,
    },
  );
  return (
    <>
      <Button icon="trash" tone="danger" onPress={() => setOpen(true)}>
        Delete…
      </Button>
      {isOpen && (
        <ConfirmChange
          title={`Delete the subscription ${name}?`}
          verb="Delete the subscription"
          isDangerous
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            Its position and its list of parked changes are lost, and its reader is refused. The
            changes themselves stay on the log.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}
