import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEvent, Answer, Client } from '#client/index.ts';
import { download } from '../../data/download.ts';
import { useList, useChange, useRead } from '../../data/read.ts';
import { useParts } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge, Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionOfEnvironment } from '../../shell/connection-name.tsx';
import { FilterBar, FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

const tabs = [
  { id: 'events', label: 'Events' },
  { id: 'chains', label: 'Chains' },
] as const;

export function Audit(): JSX.Element {
  const { path } = useAccess();
  const [, part] = useParts();
  const current = tabs.find(({ id }) => id === part)?.id ?? 'events';
  return (
    <Page title="Audit" about="Changes and reads of credentials, in a chain that can be verified.">
      <LinkTabs
        label="Audit"
        current={current}
        tabs={tabs.map(({ id, label }) => ({ id, label, href: path(`/audit/${id}`) }))}
      />
      {current === 'events' ? <Events /> : <Chains />}
    </Page>
  );
}

function Events(): JSX.Element {
  const filters = useUrlState();
  const sort = useSort();
  const [open, setOpen] = useState<AuditEvent | null>(null);
  const list = useList(
    'GET /audit',
    {
      query: {
        actor: filters.sent('actor'),
        action: filters.sent('action'),
        target: filters.sent('target'),
        outcome: filters.sent('outcome'),
        environment: filters.sent('environment'),
        limit: 100,
      },
    },
    ({ data }) => data,
  );
  return (
    <>
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="action" label="Action" type="search" />
        <FilterText filters={filters} name="actor" label="Actor" type="search" />
        <FilterText filters={filters} name="target" label="Target" type="search" isWide />
        <FilterText filters={filters} name="outcome" label="Outcome" type="search" />
        <FilterText filters={filters} name="environment" label="Environment" type="search" />
      </FilterBar>
      <ListState list={list} empty={<Empty title="No event matches">Change a filter.</Empty>}>
        <Table
          label="Audit events"
          columns={columnsOf(setOpen)}
          rows={list.items}
          onOpen={setOpen}
          sort={list.hasMore ? undefined : sort}
          keyOf={({ environment, seq }) => `${environment} ${seq}`}
        />
      </ListState>
      {open !== null && (
        <Drawer title={open.action} onClose={() => setOpen(null)}>
          <Json label="Event" value={open} />
        </Drawer>
      )}
    </>
  );
}

/** Length of `key:` and the first part of an id; the rest is shown on hover. */
const shownActor = 12;

const columnsOf = (show: (event: AuditEvent) => void): readonly Column<AuditEvent>[] => [
  { title: 'Action', sortBy: ({ action }) => action, cell: ({ action }) => <Clip text={action} /> },
  {
    title: 'Outcome',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ outcome }) => outcome,
    cell: ({ outcome }) => <StateBadge state={outcome} />,
  },
  {
    title: 'Target',
    narrow: 'below',
    cell: (event) => <Target event={event} />,
  },
  {
    title: 'Actor',
    cell: ({ actor, actor_name: name }) =>
      name === null ? (
        <span class="clip mono" title={actor}>
          {actor.slice(0, shownActor)}
        </span>
      ) : (
        <span class="clip" title={`${name} (${actor})`}>
          {name}
        </span>
      ),
  },
  { title: 'From', fit: 'tight', cell: ({ ip_prefix: prefix }) => prefix ?? '–' },
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ at }) => at,
    cell: ({ at }) => <Time at={at} />,
  },
  {
    title: '',
    fit: 'tight',
    cell: (event) => (
      <Button tone="quiet" isSmall onPress={() => show(event)}>
        Details
      </Button>
    ),
  },
];

/** A connection by its name; anything else as it is in the event. */
function Target({ event }: { readonly event: AuditEvent }): JSX.Element {
  const { action, target, environment } = event;
  const end = target.indexOf('/');
  if (!action.startsWith('connection.') || end === -1) return <Clip text={target} />;
  return (
    <ConnectionOfEnvironment
      environment={environment}
      integration={target.slice(0, end)}
      id={target.slice(end + 1)}
    />
  );
}

type Chain = Answer<'GET /audit/chains'>['data'][number];

/** The chain of each environment and of the account: whether it is whole, and its events as a file. */
function Chains(): JSX.Element {
  const query = useRead('GET /audit/chains', {});
  return (
    <div class="stack">
      <p class="muted">
        Each event contains the hash of the one before it, and the owner of an environment keeps the
        last hash apart from the events. Verify computes every hash in this browser.
      </p>
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Chains"
            rows={data}
            keyOf={({ environment }) => environment}
            columns={[
              { title: 'Environment', cell: (chain) => nameOf(chain) },
              {
                title: 'Events',
                fit: 'end',
                narrow: 'below',
                cell: ({ length }) => length.toLocaleString('en'),
              },
              { title: '', fit: 'tight', cell: (chain) => <ChainActions chain={chain} /> },
              {
                title: 'Last hash',
                fit: 'tight',
                cell: ({ hash }) => (
                  <span class="row mono" title={hash}>
                    {hash.slice(0, hashShown)}…
                    <CopyButton text={hash} label="Copy the hash" />
                  </span>
                ),
              },
            ]}
          />
        )}
      </LoadedState>
    </div>
  );
}

/** Enough to compare by eye; the button copies all. */
const hashShown = 12;

const nameOf = ({ environment, name }: Chain): string => name ?? environment;

function ChainActions({ chain }: { readonly chain: Chain }): JSX.Element {
  const verify = useChange((client) => firstBroken(client, chain));
  const save = useChange((client) => exportOf(client, chain.environment), {
    onDone: (events) => download(events, `audit-${nameOf(chain)}.ndjson`),
  });
  return (
    <span class="row">
      {verify.data === null && <Badge tone="good">whole</Badge>}
      {typeof verify.data === 'number' && <Badge tone="bad">changed at {verify.data}</Badge>}
      <Button
        isSmall
        icon="shield"
        title={`Verify the chain of ${nameOf(chain)}`}
        isBusy={verify.isPending}
        onPress={() => verify.mutate()}
      >
        Verify
      </Button>
      <Button
        isSmall
        icon="download"
        title={`Export the chain of ${nameOf(chain)} as NDJSON`}
        isBusy={save.isPending}
        onPress={() => save.mutate()}
      >
        Export
      </Button>
    </span>
  );
}

const pageSize = 2_000;
const encoder = new TextEncoder();

/** The export of a chain, from its oldest event on: pages of lines of JSON (docs/audit.md). @throws ApiError */
async function* pagesOf(client: Client, environment: string): AsyncGenerator<readonly string[]> {
  for (let from = 1; ;) {
    const text = await client.request('GET /audit/export', {
      query: { environment, from, limit: pageSize },
    });
    const lines = text.split('\n').filter((line) => line !== '');
    yield lines;
    if (lines.length < pageSize) return;
    from = entryOf(lines.at(-1) ?? '').seq + 1;
  }
}

/** The whole chain as lines of JSON. @throws ApiError */
async function exportOf(client: Client, environment: string): Promise<Blob> {
  const parts: string[] = [];
  for await (const lines of pagesOf(client, environment)) parts.push(`${lines.join('\n')}\n`);
  return new Blob(parts, { type: 'application/x-ndjson' });
}

/** An event of the export; the hash covers the other fields and the hash before. */
interface Entry {
  readonly seq: number;
  readonly chain_hash: string;
}

/** The service guarantees the shape. */
const entryOf = (line: string): Entry => JSON.parse(line) as Entry;

/**
 * Computes each hash of the chain again, and compares the one at its end with that of the owner. Older events may have
 * expired: the first remaining one is taken as valid.
 * @returns the first event that does not match; null when the chain is whole
 * @throws ApiError
 */
async function firstBroken(client: Client, chain: Chain): Promise<number | null> {
  let before: Entry | null = null;
  let isEndSeen = chain.length === 0;
  for await (const lines of pagesOf(client, chain.environment)) {
    for (const line of lines) {
      const entry = entryOf(line);
      const isNext: boolean =
        before === null
          ? entry.seq > 1 || (await hashOf(entry, '0'.repeat(64))) === entry.chain_hash
          : entry.seq === before.seq + 1 &&
            (await hashOf(entry, before.chain_hash)) === entry.chain_hash;
      const isOtherEnd = entry.seq === chain.length && entry.chain_hash !== chain.hash;
      if (!isNext || isOtherEnd) return entry.seq;
      isEndSeen ||= entry.seq === chain.length;
      before = entry;
    }
  }
  return isEndSeen ? null : chain.length;
}

async function hashOf({ chain_hash: _own, ...covered }: Entry, previous: string): Promise<string> {
  const sorted = Object.entries(covered).sort(([left], [right]) => (left < right ? -1 : 1));
  const text = `${previous}\n${JSON.stringify(Object.fromEntries(sorted))}`;
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
