import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { counted } from '#kernel/counted.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Diff } from '../../design/diff.tsx';
import { TextArea } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { FailureNotice, Notice, SkeletonRows } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import type { RunDetail } from './run-detail.ts';

interface Pair {
  readonly recorded: unknown;
  readonly replayed: unknown;
}

interface ModelDifference {
  readonly same: number;
  readonly changed: number;
  readonly only_recorded: number;
  readonly only_replayed: number;
  /** The first ones. */
  readonly differences: readonly (Pair & { readonly id: string })[];
}

/** The result of a replay (docs/time-travel.md). */
interface Difference {
  readonly identical: boolean;
  readonly outcome: Pair | null;
  readonly checkpoint: Pair | null;
  readonly metadata: Pair | null;
  readonly started: Pair | null;
  readonly records: Readonly<Record<string, ModelDifference>>;
  readonly logs: {
    readonly only_recorded: readonly string[];
    readonly only_replayed: readonly string[];
  };
  readonly requests: {
    readonly unanswered: readonly string[];
    readonly not_made: readonly string[];
  };
}

interface ReplayProps {
  readonly run: RunDetail;
}

/** Runs the run again on its recorded responses, with the deployed code or other. */
export function Replay({ run }: ReplayProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="clock" onPress={() => setOpen(true)}>
        Replay…
      </Button>
      {isOpen && (
        <Drawer title={`Replay of ${run.function}`} onClose={() => setOpen(false)}>
          {isRecorded(run) ? <ReplayForm run={run} /> : <NotRecorded run={run} />}
        </Drawer>
      )}
    </>
  );
}

const isRecorded = ({ timeline }: RunDetail): boolean =>
  timeline.some(({ what }) => what === 'recorded');

function NotRecorded({ run }: ReplayProps): JSX.Element {
  const { path } = useAccess();
  const functions = path(`${pathOf('integrations', run.provider_config_key)}/functions`);
  return (
    <Notice>
      <p>The calls of this run were not recorded, so that it cannot be replayed.</p>
      <p>
        <Link href={`${functions}?function=${encodeURIComponent(run.function)}`}>
          Record the calls of {run.function}
        </Link>
        : then its later runs can.
      </p>
    </Notice>
  );
}

/** Of functions; a run of a webhook is one of a sync. */
const types = ['sync', 'action', 'on-event', 'on-change'] as const;

function ReplayForm({ run }: ReplayProps): JSX.Element {
  const { can } = useAccess();
  const [code, setCode] = useState('');
  const begin = useChange(
    (client, sent: string) =>
      client.request('POST /runs/{id}/replays', {
        params: { id: run.id },
        body: sent === '' ? {} : { code: sent },
      }),
    { showsFailure: true },
  );
  const deployed = useChange(
    (client) =>
      client.request('GET /integrations/{uniqueKey}/functions/{name}/code', {
        params: { uniqueKey: run.provider_config_key, name: run.function },
        query: { type: types.find((type) => type === run.kind) ?? 'sync' },
      }),
    { onDone: ({ code: text }) => setCode(text) },
  );
  const start = (): void => begin.mutate(code.trim() === '' ? '' : code);
  return (
    <div class="stack">
      <p>
        The function runs again on the responses that this run got. Nothing reaches the provider,
        and nothing is written.
      </p>
      <TextArea
        label="Other code"
        hint="TypeScript in one file; empty: the deployed code"
        rows={code === '' ? 3 : 14}
        value={code}
        onInput={setCode}
        onSubmit={start}
      />
      <div class="row">
        <Button tone="primary" isBusy={begin.isPending} onPress={start}>
          Run the replay
        </Button>
        {can('environment:functions:read') && (
          <Button isBusy={deployed.isPending} onPress={() => deployed.mutate()}>
            Begin with the deployed code
          </Button>
        )}
      </div>
      {begin.error !== null && <FailureNotice failure={failureOf(begin.error)} />}
      {begin.data !== undefined && (
        <>
          {begin.variables === '' && !begin.data.same_code && (
            <Notice>The deployed code is another than that of the run.</Notice>
          )}
          <Outcome key={begin.data.id} id={begin.data.id} />
          <p class="muted">
            On {counted(begin.data.recorded_calls, 'recorded call')} of attempt {begin.data.attempt}
            , {counted(begin.data.recorded_bytes, 'byte')} kept.
          </p>
        </>
      )}
    </div>
  );
}

function Outcome({ id }: { readonly id: string }): JSX.Element {
  const [isOver, setOver] = useState(false);
  const query = useRead(
    'GET /functions/dryruns/{id}',
    { params: { id } },
    { everyMs: isOver ? false : 500 },
  );
  const isCompleted = query.data?.completed_at !== undefined;
  useEffect(() => setOver(isCompleted), [isCompleted]);
  if (query.error !== null) return <FailureNotice failure={failureOf(query.error)} />;
  if (query.data === undefined || !isCompleted) return <SkeletonRows count={3} />;
  const { error, result } = query.data;
  if (error !== undefined) return <Notice tone="bad">{error.message}</Notice>;
  return <Differences found={result as Difference} />;
}

const titles = {
  outcome: 'Outcome',
  checkpoint: 'Checkpoint',
  metadata: 'Metadata of the connection',
  started: 'Started actions and syncs',
} as const;

function Differences({ found }: { readonly found: Difference }): JSX.Element {
  const models = Object.entries(found.records);
  const pairs = (['outcome', 'checkpoint', 'metadata', 'started'] as const).flatMap((name) => {
    const pair = found[name];
    return pair === null ? [] : [{ title: titles[name], pair }];
  });
  return (
    <>
      <Notice tone={found.identical ? 'good' : 'warn'}>
        {found.identical
          ? 'Identical: the replay did what the run did.'
          : 'Different: the replay did not do what the run did.'}
      </Notice>
      <Requests found={found.requests} />
      {pairs.map(({ title, pair }) => (
        <Compared key={title} title={title} pair={pair} />
      ))}
      {models.length > 0 && <Saves models={models} />}
      {models.flatMap(([model, { differences }]) =>
        differences.map(({ id, ...pair }) => (
          <Compared key={`${model} ${id}`} title={`${model} ${id}`} pair={pair} />
        )),
      )}
      <Texts
        title="Log lines"
        lines={[
          ...found.logs.only_recorded.map((text) => ({ title: 'only recorded', text })),
          ...found.logs.only_replayed.map((text) => ({ title: 'only replayed', text })),
        ]}
      />
    </>
  );
}

/** What was recorded, and what was replayed instead; one of them may be missing. */
function Compared({ title, pair }: { readonly title: string; readonly pair: Pair }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      <Diff before={pair.recorded ?? {}} after={pair.replayed ?? {}} subject={title} />
    </section>
  );
}

function Requests({ found }: { readonly found: Difference['requests'] }): JSX.Element {
  return (
    <Texts
      title="Requests"
      lines={[
        ...found.unanswered.map((text) => ({ title: 'no recorded response', text })),
        ...found.not_made.map((text) => ({ title: 'no longer made', text })),
      ]}
    />
  );
}

function countsOf({ same, changed, only_recorded, only_replayed }: ModelDifference): string {
  const parts = [
    [same, 'the same'],
    [changed, 'changed'],
    [only_recorded, 'only recorded'],
    [only_replayed, 'only replayed'],
  ] as const;
  const some = parts.filter(([count]) => count > 0);
  return some.map(([count, name]) => `${count.toLocaleString('en')} ${name}`).join(', ');
}

function Saves({
  models,
}: {
  readonly models: readonly (readonly [string, ModelDifference])[];
}): JSX.Element {
  const listed = models.reduce((sum, [, { differences }]) => sum + differences.length, 0);
  const differing = models.reduce(
    (sum, [, { changed, only_recorded, only_replayed }]) =>
      sum + changed + only_recorded + only_replayed,
    0,
  );
  return (
    <section class="stack tight">
      <h3>Records</h3>
      <KeyValues rows={models.map(([model, counts]) => [model, countsOf(counts)])} />
      {differing > listed && (
        <p class="muted">
          The first {listed} of {counted(differing, 'record')} that differ:
        </p>
      )}
    </section>
  );
}

interface TextsProps {
  readonly title: string;
  readonly lines: readonly { readonly title: string; readonly text: string }[];
}

function Texts({ title, lines }: TextsProps): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      <Table
        label={title}
        rows={lines.map((line, index) => ({ ...line, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { title: 'Difference', fit: 'tight', cell: (line) => line.title },
          { title: 'Text', cell: ({ text }) => <Clip text={text} isMono /> },
        ]}
      />
    </section>
  );
}
