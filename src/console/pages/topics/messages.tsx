import type { JSX } from 'preact';
import type { TopicMessage, TopicWithSchema } from '#client/index.ts';
import { instantOf } from '../../data/local-time.ts';
import { useList, useRead } from '../../data/read.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';

interface MessagesProps {
  readonly topic: TopicWithSchema;
}

/** The newest messages, or those from an offset, a time or of a key; the address names the position. */
export function Messages({ topic }: MessagesProps): JSX.Element {
  const filters = useUrlState();
  const by = filters.get('by');
  const { name } = topic;
  const list = useList(
    'GET /topics/{name}/messages',
    { params: { name }, query: positionOf(filters) },
    ({ data }) => data,
  );
  const open = parsePosition(filters.get('message'));
  return (
    <div class="stack">
      <FilterBar filters={filters}>
        <FilterSelect
          filters={filters}
          name="partition"
          label="Partition"
          none={by === 'offset' ? '0' : 'All'}
          values={topic.ranges.map(({ partition }) => String(partition))}
        />
        <FilterSelect
          filters={filters}
          name="by"
          label="From"
          none="The newest"
          values={[
            { value: 'offset', label: 'An offset' },
            { value: 'since', label: 'A time' },
            { value: 'key', label: 'Of a key' },
          ]}
        />
        {by === 'offset' && <FilterText filters={filters} name="offset" label="Offset" />}
        {by === 'since' && (
          <FilterText filters={filters} name="since" label="Time (local)" type="datetime-local" />
        )}
        {by === 'key' && (
          <FilterText filters={filters} name="key" label="Key" placeholder={topic.key} isWide />
        )}
      </FilterBar>
      <ListState
        list={list}
        empty={
          list.hasMore ? (
            <LookedThrough onMore={list.loadMore} isBusy={list.isLoadingMore} />
          ) : (
            <Empty title="No messages">
              {by === '' ? 'Nothing was written to this topic yet.' : 'None from this position on.'}
            </Empty>
          )
        }
      >
        <Table label="Messages" columns={columns} rows={list.items} keyOf={idOf} />
      </ListState>
      {open !== null && (
        <MessageDrawer topic={name} place={open} onClose={() => filters.set({ message: '' })} />
      )}
    </div>
  );
}

interface LookedThroughProps {
  readonly onMore: () => void;
  readonly isBusy: boolean;
}

/** The search ends after a while: there may be messages of the key further back. */
const LookedThrough = ({ onMore, isBusy }: LookedThroughProps): JSX.Element => (
  <Empty
    title="Nothing found so far"
    action={
      <Button isBusy={isBusy} onPress={onMore}>
        Search on
      </Button>
    }
  >
    The topic is long, and not all of it was searched.
  </Empty>
);

const numberOf = (text: string): number | undefined =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** A position that is not complete yet is not sent. */
function positionOf(filters: UrlState) {
  const by = filters.get('by');
  const partition = numberOf(filters.get('partition'));
  const offset = by === 'offset' ? numberOf(filters.get('offset')) : undefined;
  return {
    partition: offset === undefined ? partition : (partition ?? 0),
    offset,
    since: by === 'since' ? instantOf(filters.get('since')) : undefined,
    key: by === 'key' ? filters.sent('key') : undefined,
  };
}

interface MessagePosition {
  readonly partition: number;
  readonly offset: number;
}

const idOf = ({ partition, offset }: MessagePosition): string => `${partition}/${offset}`;

function parsePosition(text: string): MessagePosition | null {
  const [partition, offset] = text.split('/').map(numberOf);
  return partition === undefined || offset === undefined ? null : { partition, offset };
}

const tones: Readonly<Record<TopicMessage['kind'], Tone>> = {
  value: 'plain',
  tombstone: 'warn',
  unreadable: 'bad',
};

const columns: readonly Column<TopicMessage>[] = [
  {
    title: 'Position',
    fit: 'tight',
    cell: (message) => <OpenLink name="message" id={idOf(message)} text={idOf(message)} />,
  },
  {
    title: 'Time',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
  {
    title: 'About',
    narrow: 'below',
    cell: (message) => <Clip text={subjectOf(message)} title={message.key} isMono />,
  },
  {
    title: 'What happened',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ kind, headers }) => (
      <Badge tone={tones[kind]}>{kind === 'value' ? actionOf(headers['ce_type']) : kind}</Badge>
    ),
  },
  {
    title: 'Message',
    cell: ({ kind, value }) => (kind === 'value' ? <Clip text={contentOf(value)} isMono /> : null),
  },
];

/** `svc.record.updated` is `record updated`; without a type what every message is. */
const actionOf = (type: string | undefined): string =>
  type === undefined ? 'written' : type.replace(/^svc\./, '').replaceAll(/[._]/g, ' ');

/** Fields that name what a message is about, where its key names more or less. */
const subjectFields = [
  'record_id',
  'letter_id',
  'delivery_id',
  'message_id',
  'operation_id',
] as const;

/** What the message is about: by its own field, else by its key, whose last parts differ most. */
function subjectOf({ key, headers, value }: TopicMessage): string {
  const fields: Readonly<Record<string, unknown>> = isObject(value) ? value : {};
  // Other messages name the run that wrote them.
  const isOfRun = headers['ce_type']?.startsWith('svc.run.') === true;
  const names = isOfRun ? (['run_id'] as const) : subjectFields;
  const named = names.map((name) => fields[name]).find((one) => isName(one));
  return named ?? lastPartsOf(key);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Enough to name a thing within its connection: the parts before are in all keys the same. */
const lastPartsOf = (key: string): string => key.split('/').slice(-2).join('/');

/** What other columns show, and what is the same in many messages. */
const commonFields: ReadonlySet<string> = new Set([
  'event_id',
  'type',
  'occurred_at',
  'environment_id',
  'integration',
  'connection_id',
  'connection_uid',
  'actor',
  'run_id',
  'action',
  ...subjectFields,
]);

function contentOf(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(value).slice(0, shownChars);
  const own = Object.entries(value).filter(
    ([name, content]) => !commonFields.has(name) && content !== null,
  );
  return JSON.stringify(Object.fromEntries(own)).slice(0, shownChars);
}

/** Enough for the widest table. */
const shownChars = 300;

interface MessageDrawerProps {
  readonly topic: string;
  readonly place: MessagePosition;
  readonly onClose: () => void;
}

/** One message, whatever the list shows: a link to it stays valid for as long as the log has it. */
function MessageDrawer({ topic, place, onClose }: MessageDrawerProps): JSX.Element {
  const query = useRead('GET /topics/{name}/messages', {
    params: { name: topic },
    query: { ...place, limit: 1 },
  });
  return (
    <Drawer title={`Message ${idOf(place)}`} onClose={onClose}>
      <LoadedState query={query}>
        {({ data: [message] }) =>
          message?.offset === place.offset ? (
            <Message message={message} />
          ) : (
            <Empty title="No message at this offset">
              It was compacted or has expired, or the offset marks the end of a transaction.
            </Empty>
          )
        }
      </LoadedState>
    </Drawer>
  );
}

const Message = ({ message }: { readonly message: TopicMessage }): JSX.Element => (
  <div class="stack">
    {message.kind === 'unreadable' && (
      <Notice tone="bad">
        <p>{message.error}</p>
        <p>Consumers of the service set such a message aside: see the dead letters.</p>
      </Notice>
    )}
    {message.kind === 'tombstone' && (
      <Notice tone="warn">A tombstone: the entity of this key was deleted.</Notice>
    )}
    <KeyValues
      rows={[
        ['Time', <Time key="time" at={message.timestamp} />],
        [
          'Key',
          <span key="key" class="row">
            <span class="mono">{message.key}</span>
            <CopyButton text={message.key} label="Copy the key" />
          </span>,
        ],
        ['Schema id', message.schema_id],
        ['Size of the value', `${message.bytes.toLocaleString('en')} bytes`],
      ]}
    />
    {message.kind === 'value' && (
      <>
        <h3>Value</h3>
        <Json label="Value" value={message.value} />
      </>
    )}
    <h3>Headers</h3>
    <Json label="Headers" value={message.headers} />
  </div>
);
