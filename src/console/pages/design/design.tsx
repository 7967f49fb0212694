import type { JSX, ComponentChildren } from 'preact';
import { useState, useMemo } from 'preact/hooks';
import { Badge, StateBadge } from '../../design/badge.tsx';
import { Button, IconButton, LinkButton } from '../../design/button.tsx';
import { Chart } from '../../design/chart.tsx';
import { Clip } from '../../design/clip.tsx';
import { Code, Json } from '../../design/code.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Diff } from '../../design/diff.tsx';
import { Check, ChoiceSet, Select, TextArea, TextField } from '../../design/field.tsx';
import { Icon, iconNames } from '../../design/icon.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { LoadMore } from '../../design/load-more.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog, Drawer } from '../../design/overlay.tsx';
import { Empty, ErrorState, FailureNotice, Notice, SkeletonRows } from '../../design/states.tsx';
import { ScrolledTable, Table, type Column } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { duration, Time } from '../../design/time.tsx';
import { toast } from '../../design/toast.tsx';
import { Page } from '../../shell/page.tsx';

/** Every component of the design system in all of its states. */
export function Design(): JSX.Element {
  return (
    <Page
      title="Design system"
      about="Every component in all of its states. Switch the theme above."
    >
      <Tabs
        label="Components"
        tabs={[
          { id: 'controls', label: 'Controls', content: <Controls /> },
          { id: 'data', label: 'Data', content: <DataViews /> },
          { id: 'overlays', label: 'Overlays', content: <Overlays /> },
          { id: 'states', label: 'States', content: <States /> },
        ]}
      />
    </Page>
  );
}

const tones = ['plain', 'primary', 'danger', 'danger filled', 'quiet'] as const;

const Controls = (): JSX.Element => (
  <div class="stack">
    <Section title="Buttons">
      {tones.map((tone) => (
        <div class="row" key={tone}>
          <Button tone={tone}>{tone}</Button>
          <Button tone={tone} icon="play">
            With an icon
          </Button>
          <Button tone={tone} isSmall>
            Small
          </Button>
          <Button tone={tone} isDisabled>
            Disabled
          </Button>
          <Button tone={tone} isBusy>
            Busy
          </Button>
        </div>
      ))}
      <div class="row">
        <LinkButton href="/design" icon="link">
          Link
        </LinkButton>
        <IconButton icon="refresh" label="An icon with a label" onPress={() => undefined} />
        <CopyButton text="Copied text" />
      </div>
    </Section>
    <Section title="Fields">
      <Fields />
    </Section>
    <Section title="Badges">
      <div class="row">
        {(['plain', 'good', 'bad', 'warn', 'info'] as const).map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <StateBadge state="running" />
        <StateBadge state="timed_out" />
      </div>
    </Section>
    <Section title="Icons">
      <div class="row">
        {iconNames.map((name) => (
          <span key={name} class="row">
            <Icon name={name} />
            <span class="muted">{name}</span>
          </span>
        ))}
      </div>
    </Section>
  </div>
);

function Fields(): JSX.Element {
  const [text, setText] = useState('Text');
  const [isChecked, setChecked] = useState(true);
  const [chosen, setChosen] = useState<readonly ('a' | 'b')[]>(['b']);
  return (
    <>
      <div class="filters">
        <TextField label="Text" value={text} onInput={setText} />
        <TextField label="Empty" placeholder="Placeholder" value="" onInput={setText} />
        <TextField label="With a hint" hint="What to write" value={text} onInput={setText} />
        <TextField label="Wrong" problem="This is not an address." value={text} onInput={setText} />
        <TextField label="Disabled" isDisabled value={text} onInput={setText} />
        <Select
          label="Select"
          value="b"
          choices={[
            { value: 'a', label: 'First' },
            { value: 'b', label: 'Second with a long label that does not fit' },
          ]}
          onChange={setText}
        />
      </div>
      <TextArea label="Text of several lines" rows={3} value={text} onInput={setText} />
      <Check label="Check" hint="and a hint" isChecked={isChecked} onChange={setChecked} />
      <Check label="Disabled" isDisabled isChecked={false} onChange={setChecked} />
      <ChoiceSet
        label="Choices"
        choices={[
          { value: 'a', label: 'First' },
          { value: 'b', label: 'Second', hint: 'and a hint' },
        ]}
        chosen={chosen}
        onChange={setChosen}
      />
    </>
  );
}

const value = { id: 'c-1', name: 'Ada', tags: ['a', 'b'], score: 4.5, active: true, note: null };
const long =
  'a-name-without-any-space-that-is-longer-than-every-column-of-the-table-can-be-'.repeat(2);
const minute = 60;

function DataViews(): JSX.Element {
  const times = useMemo(() => Array.from({ length: 48 }, (_, index) => 1.8e9 + index * minute), []);
  const series = useMemo(
    () => [
      { label: 'first', color: '--series-1' as const, values: times.map((_, x) => (x * 7) % 13) },
      { label: 'second', color: '--series-2' as const, values: times.map((_, x) => (x * 3) % 7) },
    ],
    [times],
  );
  return (
    <div class="stack">
      <Section title="Table">
        <SmallTable count={3} />
      </Section>
      <Section title="Table of 10,000 rows">
        <SmallTable count={10_000} />
        <LoadMore shown={10_000} total={12_500} hasMore isBusy={false} onMore={() => undefined} />
      </Section>
      <Section title="Table whose rows are being read">
        <ScrolledTable label="Rows to come" source={coming} keyOf={String} columns={columns} />
      </Section>
      <Section title="Chart">
        <Chart label="An example" times={times} series={series} />
      </Section>
      <Section title="Key and value">
        <KeyValues
          rows={[
            ['Name', 'Ada'],
            ['Empty', null],
            ['Long', long],
          ]}
        />
      </Section>
      <Section title="Code and JSON">
        <Code label="Code" text="npm run svc -- help" />
        <Json label="JSON" value={value} />
      </Section>
      <Section title="Differences">
        <Diff before={value} after={{ ...value, name: 'Ada L.', note: 'new', tags: ['a'] }} />
        <Diff before={value} after={value} />
      </Section>
      <Section title="Tabs that are pages">
        <LinkTabs
          label="Example"
          current="one"
          tabs={[
            { id: 'one', label: 'One', href: '/design' },
            { id: 'two', label: 'Two', href: '/design?tab=two' },
          ]}
        />
      </Section>
    </div>
  );
}

const states = ['succeeded', 'failed', 'running'] as const;

const columns: readonly Column<number>[] = [
  { title: 'Name', cell: (row) => <Clip text={row === 1 ? long : `Row ${row}`} /> },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: (row) => <StateBadge state={states[row % 3] ?? 'failed'} />,
  },
  { title: 'Duration', fit: 'end', cell: (row) => duration(row * 617) },
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    cell: () => <Time at="2026-01-01T00:00:00Z" />,
  },
];

const coming = {
  count: 120,
  hasMore: true,
  at: (index: number) => (index < 3 ? index : undefined),
  show: () => undefined,
};

const SmallTable = ({ count }: { readonly count: number }): JSX.Element => (
  <Table
    label={`${count} rows`}
    rows={Array.from({ length: count }, (_, index) => index)}
    keyOf={String}
    columns={columns}
  />
);

type OverlayName = 'dialog' | 'confirm' | 'drawer' | null;

function Overlays(): JSX.Element {
  const [shown, setShown] = useState<OverlayName>(null);
  const close = (): void => setShown(null);
  return (
    <Section title="Overlays">
      <div class="row">
        <Button onPress={() => setShown('dialog')}>Dialog</Button>
        <Button onPress={() => setShown('confirm')}>Question</Button>
        <Button onPress={() => setShown('drawer')}>Drawer</Button>
        <Button onPress={() => toast('It was done')}>Message</Button>
        <Button onPress={() => toast('It did not work: the service refused it.', 'bad')}>
          Failure
        </Button>
        <Menu
          label="Menu"
          items={[
            { id: 'a', label: 'An action', icon: 'play', onSelect: () => toast('An action') },
            { id: 'b', label: 'Not now', isDisabled: true, onSelect: () => undefined },
            { id: 'c', label: 'Delete', icon: 'close', isDangerous: true, onSelect: close },
          ]}
        />
      </div>
      {shown === 'dialog' && (
        <Dialog title="Dialog" onClose={close}>
          <p>Escape closes it, and the focus returns.</p>
        </Dialog>
      )}
      {shown === 'confirm' && (
        <Confirm
          title="Delete the example?"
          verb="Delete the example"
          isDangerous
          typed="example"
          isBusy={false}
          failure={{
            message: 'The example is in use.',
            code: 'in_use',
            fix: 'Delete what uses it first.',
            requestId: 'r-1',
          }}
          onConfirm={close}
          onClose={close}
        >
          <p>It cannot be undone.</p>
        </Confirm>
      )}
      {shown === 'drawer' && (
        <Drawer title="Drawer" onClose={close}>
          <p>Details of what the page lists.</p>
        </Drawer>
      )}
    </Section>
  );
}

const States = (): JSX.Element => (
  <div class="stack">
    <Section title="Loading">
      <SkeletonRows count={3} />
    </Section>
    <Section title="Empty">
      <Empty
        title="Nothing yet"
        command="npx svc help"
        action={<Button tone="primary">The next step</Button>}
      >
        Why it is empty, and what comes next:
      </Empty>
    </Section>
    <Section title="Failure">
      <ErrorState
        failure={{
          message: 'There is no connection "acme" of "crm" in the environment "dev".',
          code: 'unknown_connection',
          fix: 'List the connections with GET /connections.',
          requestId: '0f9b7c2e',
        }}
        onRetry={() => undefined}
      />
    </Section>
    <Section title="Failure in a form">
      <FailureNotice
        failure={{
          message: 'The service cannot be reached.',
          code: null,
          fix: null,
          requestId: null,
        }}
      />
    </Section>
    <Section title="Notices">
      {(['info', 'good', 'warn', 'bad'] as const).map((tone) => (
        <Notice key={tone} tone={tone}>
          A notice of the tone {tone}.
        </Notice>
      ))}
    </Section>
    <Section title="Progress">
      <progress class="progress" max={1} value={0.4} aria-label="Progress" />
    </Section>
  </div>
);

interface SectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const Section = ({ title, children }: SectionProps): JSX.Element => (
  <section class="card padded stack">
    <h2>{title}</h2>
    {children}
  </section>
);
