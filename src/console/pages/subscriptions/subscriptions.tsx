import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Subscription } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { Badge } from '../../design/badge.tsx';
import { Button, LinkButton } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { CreateSubscription } from './create-subscription.tsx';

export function Subscriptions(): JSX.Element {
  const { can, path } = useAccess();
  const [isCreating, setCreating] = useState(false);
  const sort = useSort();
  const query = useRead('GET /subscriptions', {}, { everyMs: 5_000 });
  return (
    <Page
      title="Subscriptions"
      about="Readers of changes whose position the gateway keeps: they read, process, and commit."
      actions={
        <>
          {can('environment:changes:read') && (
            <LinkButton href={path('/changes')} icon="activity">
              Live changes
            </LinkButton>
          )}
          {can('environment:subscriptions:write') && (
            <Button tone="primary" icon="plus" onPress={() => setCreating(true)}>
              Create a subscription
            </Button>
          )}
        </>
      }
    >
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No subscriptions" command="npx svc subscriptions create warehouse">
              A program that keeps a copy of records reads their changes from one.
            </Empty>
          ) : (
            <Table
              label="Subscriptions"
              columns={columnsOf(path)}
              rows={data}
              sort={sort}
              keyOf={({ name }) => name}
            />
          )
        }
      </LoadedState>
      {isCreating && <CreateSubscription onClose={() => setCreating(false)} />}
    </Page>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<Subscription>[] => [
  {
    title: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => (
      <Link href={path(pathOf('subscriptions', name))} class="clip" title={name}>
        {name}
      </Link>
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: (one) => <Progress subscription={one} />,
  },
  {
    title: 'Connection',
    cell: ({ provider_config_key: integration, connection_id: id }) =>
      integration === null ? (
        <Clip text={id ?? 'all'} />
      ) : (
        <ConnectionLink integration={integration} id={id} />
      ),
  },
  { title: 'Model', narrow: 'below', cell: (one) => <Clip text={modelOf(one) ?? 'all'} /> },
  { title: 'Target', cell: (one) => <Clip text={targetOf(one) ?? 'read by a program'} /> },
  {
    title: 'Behind',
    fit: 'end',
    sortBy: ({ behind }) => behind,
    cell: ({ behind }) => behind.toLocaleString('en'),
  },
  {
    title: 'Parked',
    fit: 'end',
    sortBy: ({ parked }) => parked,
    cell: ({ parked }) => parked,
  },
  {
    title: 'Last commit',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ committed_at: at }) => at,
    cell: ({ committed_at: at }) => <Time at={at} />,
  },
];

/** The model with its variant; null: of all. */
export const modelOf = ({ model, models, variant }: Subscription): string | null =>
  [models?.join(', ') ?? model, variant].filter(Boolean).join(' · ') || null;

/** To which the gateway delivers the changes; null: its reader asks for them. */
export function targetOf({ target }: Subscription): string | null {
  if (target === null) return null;
  return target.type === 'webhook' ? target.url : `function ${target.name}`;
}

/** Whether its reader has set changes aside, its target refuses them, or it has processed every change of the log. */
export function Progress({ subscription }: { readonly subscription: Subscription }): JSX.Element {
  const { behind, failing, parked, committed_at: at } = subscription;
  if (parked > 0) return <Badge tone="warn">{parked} parked</Badge>;
  if (failing > 0) return <Badge tone="bad">failing</Badge>;
  if (behind === 0) return <Badge tone="good">caught up</Badge>;
  return at === null ? <Badge>not read yet</Badge> : <Badge tone="info">behind</Badge>;
}
