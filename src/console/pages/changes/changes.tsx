import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Change } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { failureOf } from '../../data/failure.ts';
import { dayMs } from '../../data/local-time.ts';
import { useTail } from '../../data/tail.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { Button, LinkButton } from '../../design/button.tsx';
import { Empty, ErrorState } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  FilterText,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { Page } from '../../shell/page.tsx';
import { ChangesTable } from './changes-table.tsx';

/** The changes of all records, as they come. */
export function Changes(): JSX.Element {
  const { can, path } = useAccess();
  const filters = useUrlState();
  const [isPaused, setPaused] = useState(false);
  return (
    <Page
      title="Changes"
      about="Changes of all records, newest first, as they come. Each opens the history of its record."
      actions={
        <>
          <Button icon={isPaused ? 'play' : 'pause'} onPress={() => setPaused(!isPaused)}>
            {isPaused ? 'Follow again' : 'Pause'}
          </Button>
          {can('environment:subscriptions:read') && (
            <LinkButton href={path('/subscriptions')}>Subscriptions</LinkButton>
          )}
        </>
      }
    >
      <FilterBar filters={filters}>
        <IntegrationFilter filters={filters} />
        <ConnectionFilter filters={filters} />
        <FilterText filters={filters} name="model" label="Model" type="search" />
        <FilterSelect
          filters={filters}
          name="since"
          label="Since"
          none="The last hour"
          values={periods}
        />
      </FilterBar>
      <Feed filters={filters} isPaused={isPaused} />
    </Page>
  );
}

const periods = [
  { value: 'day', label: 'The last 24 hours' },
  { value: 'now', label: 'From now on' },
] as const;

const hourMs = dayMs / 24;

function startOf(since: string): string {
  if (since === 'now') return 'end';
  const length = since === 'day' ? dayMs : hourMs;
  return new Date(new Date().getTime() - length).toISOString();
}

interface FeedProps {
  readonly filters: UrlState;
  readonly isPaused: boolean;
}

function Feed({ filters, isPaused }: FeedProps): JSX.Element {
  const since = filters.get('since');
  // Another start would be another stream.
  const from = useMemo(() => startOf(since), [since]);
  const query = {
    provider_config_key: filters.sent('integration'),
    connection_id: filters.sent('connection'),
    model: filters.sent('model'),
    from,
  };
  const options = { event: 'change', keyOf: ({ place }: Change) => place };
  const { items, error } = useTail('GET /changes/stream', { query }, options);
  const [shown, setShown] = useState(items);
  if (!isPaused && shown !== items) setShown(items);
  if (error !== null) return <ErrorState failure={failureOf(error)} />;
  if (shown.length === 0)
    return (
      <Empty title="Waiting for changes">
        {since === 'now'
          ? 'New changes appear here as they come.'
          : 'No change of this time matches. New ones appear here as they come.'}
      </Empty>
    );
  return (
    <div class="stack">
      <span class="row">
        <Badge tone={isPaused ? 'warn' : 'info'} isLive={!isPaused}>
          {isPaused ? 'paused' : 'following'}
        </Badge>
        <span class="muted number">{counted(shown.length, 'change')}, newest first</span>
      </span>
      <ChangesTable label="Changes" changes={shown} filters={filters} />
    </div>
  );
}
