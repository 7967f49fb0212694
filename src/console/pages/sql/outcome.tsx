import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type SqlResult } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { download } from '../../data/download.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, FailureNotice, Notice, SkeletonRows } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration } from '../../design/time.tsx';
import { fileOf, type LimitedQuery, type FileFormat, type TimedResult } from './run-query.ts';

interface OutcomeProps {
  /** The query that ran last; null before the first. */
  readonly asked: LimitedQuery | null;
  readonly result: TimedResult | null;
  readonly error: Error | null;
  readonly isRunning: boolean;
  readonly onExample: (query: string) => void;
}

/** What came of the query. */
export function Outcome({ asked, result, error, isRunning, onExample }: OutcomeProps): JSX.Element {
  if (isRunning) return <SkeletonRows />;
  if (error !== null) return <Refused error={error} />;
  if (asked === null || result === null) return <Examples onExample={onExample} />;
  return <Result asked={asked} result={result} />;
}

function Refused({ error }: { readonly error: Error }): JSX.Element {
  const isLimit = error instanceof ApiError && error.code === 'sql_limit';
  return (
    <div class="card padded stack" role="alert">
      {isLimit && (
        <p>
          <b>Ended by its limit.</b> Choose more rows or time below the query, or read less.
        </p>
      )}
      <FailureNotice failure={failureOf(error)} />
    </div>
  );
}

const examples = [
  [
    'Records of each model',
    "SELECT integration, model, count() AS records, max(last_modified_at) AS last_change\nFROM v_records\nWHERE action != 'deleted'\nGROUP BY integration, model\nORDER BY records DESC",
  ],
  [
    'Failed runs of the last day',
    "SELECT queued_at, function, connection_id, error_code, error_message\nFROM v_runs\nWHERE status = 'failed' AND queued_at > now() - INTERVAL 1 DAY\nORDER BY queued_at DESC",
  ],
  [
    'Slowest requests to providers',
    'SELECT integration, method, url, count() AS requests, quantile(0.95)(duration_ms) AS p95_ms\nFROM v_provider_calls\nGROUP BY integration, method, url\nORDER BY p95_ms DESC\nLIMIT 20',
  ],
] as const;

const Examples = ({ onExample }: Pick<OutcomeProps, 'onExample'>): JSX.Element => (
  <Empty
    title="Nothing was asked yet"
    action={
      <div class="row examples">
        {examples.map(([name, query]) => (
          <Button key={name} onPress={() => onExample(query)}>
            {name}
          </Button>
        ))}
      </div>
    }
  >
    Write a query, or begin with one of these:
  </Empty>
);

/** Values of one row, and its number from 1 on. */
interface Row {
  readonly number: number;
  readonly values: readonly unknown[];
}

interface ResultProps {
  readonly asked: LimitedQuery;
  readonly result: TimedResult;
}

function Result({ asked, result }: ResultProps): JSX.Element {
  const [open, setOpen] = useState<Row | null>(null);
  const sort = useSort();
  const { columns, rows, milliseconds } = result;
  return (
    <div class="stack">
      <div class="row">
        <span class="muted number grow">
          {counted(rows.length, 'row')} in {duration(milliseconds)}
        </span>
        <Downloads asked={asked} />
      </div>
      {rows.length === 0 ? (
        <Notice>No row matches. Columns: {columns.map(({ name }) => name).join(', ')}.</Notice>
      ) : (
        <div class="sql-result">
          <Table
            label="Result"
            columns={columnsOf(result, setOpen)}
            rows={rows.map((values, at) => ({ number: at + 1, values }))}
            keyOf={({ number }) => String(number)}
            sort={sort}
            onOpen={setOpen}
          />
        </div>
      )}
      {open !== null && (
        <Drawer title={`Row ${open.number}`} onClose={() => setOpen(null)}>
          <KeyValues
            rows={columns.map(({ name }, at) => [
              name,
              <Whole key={name} value={open.values[at]} />,
            ])}
          />
        </Drawer>
      )}
    </div>
  );
}

const isNumber = (type: string): boolean => /^(?:Nullable\()?(?:U?Int|Float|Decimal)/.test(type);
const isTime = (type: string): boolean => /^(?:Nullable\()?Date/.test(type);

const columnsOf = ({ columns }: SqlResult, show: (row: Row) => void): readonly Column<Row>[] => [
  {
    title: '#',
    fit: 'tight',
    cell: (row) => (
      <Button tone="quiet" isSmall title={`Open row ${row.number}`} onPress={() => show(row)}>
        {row.number}
      </Button>
    ),
  },
  ...columns.map(({ name, type }, at) => ({
    title: name,
    fit: isNumber(type) ? ('end' as const) : isTime(type) ? ('tight' as const) : ('short' as const),
    sortBy: ({ values }: Row) => {
      const value = values[at];
      return typeof value === 'number' || value === null ? value : textOf(value);
    },
    cell: ({ values }: Row) => <Value value={values[at]} />,
  })),
];

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Enough for the widest column. */
const shownChars = 300;

function Value({ value }: { readonly value: unknown }): JSX.Element {
  if (value === null) return <span class="muted">null</span>;
  const text = textOf(value);
  return (
    <span class="clip" title={text.slice(0, 4_000)}>
      {text.slice(0, shownChars)}
    </span>
  );
}

/** JSON is shown as it is read. */
function Whole({ value }: { readonly value: unknown }): JSX.Element {
  if (value === null) return <span class="muted">null</span>;
  const json = typeof value === 'string' ? jsonOf(value) : value;
  if (typeof json === 'object') return <Json label="Value" value={json} />;
  return <span class="whole">{textOf(value)}</span>;
}

/** The object or list that the text holds; otherwise undefined. */
function jsonOf(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const formats = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['parquet', 'Parquet'],
] as const satisfies readonly (readonly [FileFormat, string])[];

/** Runs the query once more, for a file. */
function Downloads({ asked }: Pick<ResultProps, 'asked'>): JSX.Element {
  const name = useUrlState().sent('query') ?? 'query';
  const save = useChange(
    async (client, format: FileFormat) =>
      download(await fileOf(client, asked, format), `${name}.${format}`),
    {},
  );
  return (
    <>
      {formats.map(([format, name]) => (
        <Button
          key={format}
          isSmall
          icon="download"
          title={`Download as ${name}`}
          isBusy={save.isPending && save.variables === format}
          onPress={() => save.mutate(format)}
        >
          {name}
        </Button>
      ))}
    </>
  );
}
