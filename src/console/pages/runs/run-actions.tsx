import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Answer, Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useChange } from '../../data/read.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { CancelConfirm } from './cancel-confirm.tsx';
import { Replay } from './replay.tsx';
import type { RunDetail } from './run-detail.ts';

const isOver = ({ status }: RunDetail): boolean => status !== 'queued' && status !== 'running';

/** What can be done about a run: cancel it, run the same again, take its writes back. */
export function RunActions({ run }: { readonly run: RunDetail }): JSX.Element {
  const { can, path } = useAccess();
  const canExecute = can(
    run.kind === 'action' ? 'environment:actions:execute' : 'environment:syncs:execute',
  );
  const playground = new URLSearchParams({
    integration: run.provider_config_key,
    connection: run.connection_id,
    action: run.function,
    run: run.id,
  });
  return (
    <>
      {canExecute && !isOver(run) && <CancelButton id={run.id} />}
      {canExecute && isOver(run) && run.kind === 'sync' && <RunAgain run={run} />}
      {can('environment:actions:execute') && run.kind === 'action' && (
        <LinkButton href={path(`/playground?${playground.toString()}`)} icon="play">
          Run again…
        </LinkButton>
      )}
      {can('environment:functions:dryrun') && isOver(run) && isOfFunction(run) && (
        <Replay run={run} />
      )}
      {can('environment:records:write') && isOver(run) && hasWrites(run) && (
        <Revert runId={run.id} />
      )}
    </>
  );
}

const isOfFunction = ({ kind }: RunDetail): boolean => kind !== 'revert' && kind !== 'dryrun';

const hasWrites = ({ counts }: RunDetail): boolean =>
  Object.values(counts).some(({ added, updated, deleted }) => added + updated + deleted > 0);

function CancelButton({ id }: { readonly id: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const cancel = useChange(
    (client) => client.request('POST /runs/{id}/cancel', { params: { id } }),
    { done: 'The run is being cancelled', onDone: close, showsFailure: true },
  );
  return (
    <>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Cancel the run…
      </Button>
      {isOpen && <CancelConfirm cancel={cancel} onClose={close} />}
    </>
  );
}

function RunAgain({ run }: { readonly run: RunDetail }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const again = useChange((client) => startAgain(client, run), {
    done: 'The sync was started',
    onDone: () => navigate(path(`/runs?function=${encodeURIComponent(run.function)}`)),
  });
  return (
    <Button icon="play" isBusy={again.isPending} onPress={() => again.mutate()}>
      Run again
    </Button>
  );
}

const startAgain = (client: Client, run: RunDetail) =>
  client.request('POST /sync/trigger', {
    body: {
      syncs: [{ name: run.function, variant: run.variant }],
      provider_config_key: run.provider_config_key,
      connection_id: run.connection_id,
    },
  });

type RevertResult = Answer<'POST /runs/{id}/revert'>['data'];

/** Takes the writes of a run back, after a preview. */
export function Revert({ runId }: { readonly runId: string }): JSX.Element {
  const [plan, setPlan] = useState<RevertResult | null>(null);
  const preview = useChange(
    (client) =>
      client.request('POST /runs/{id}/revert', { params: { id: runId }, body: { dry_run: true } }),
    { onDone: ({ data }) => setPlan(data) },
  );
  const revert = useChange(
    (client) => client.request('POST /runs/{id}/revert', { params: { id: runId }, body: {} }),
    {
      done: 'The writes of the run were reverted',
      showsFailure: true,
      onDone: () => setPlan(null),
    },
  );
  return (
    <>
      <Button icon="undo" isBusy={preview.isPending} onPress={() => preview.mutate()}>
        Revert…
      </Button>
      {plan !== null && (
        <ConfirmChange
          title="Revert the writes of this run?"
          verb="Revert the run"
          isDangerous
          change={revert}
          onClose={() => setPlan(null)}
        >
          <RevertPlan plan={plan} />
        </ConfirmChange>
      )}
    </>
  );
}

function RevertPlan({ plan }: { readonly plan: RevertResult }): JSX.Element {
  return (
    <>
      <p>A separate run changes the records back. Nothing has been changed yet.</p>
      <Table
        label="What a revert changes"
        rows={Object.entries(plan.counts)}
        keyOf={([model]) => model}
        columns={[
          { title: 'Model', cell: ([model]) => model },
          { title: 'Delete', fit: 'end', cell: ([, counts]) => counts.deleted },
          { title: 'Update', fit: 'end', cell: ([, counts]) => counts.updated },
          { title: 'Restore', fit: 'end', cell: ([, counts]) => counts.restored },
          { title: 'Leave', fit: 'end', cell: ([, counts]) => counts.left },
        ]}
      />
      {plan.left.length > 0 && (
        <Notice tone="warn">
          Left as it is: {counted(plan.left.length, 'record')}, such as {plan.left[0]?.model}{' '}
          {plan.left[0]?.id}: {plan.left[0]?.reason.replaceAll('_', ' ')}.
        </Notice>
      )}
    </>
  );
}
