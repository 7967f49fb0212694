import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Environment, Input } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Check, Select, TextField } from '../../design/field.tsx';
import { FailureNotice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';

type Patch = NonNullable<Input<'PATCH /environments/{environmentId}'>['body']>;

type WebhookEvent = Extract<keyof Environment, `on_${string}`>;

/** An event of the API without a label does not compile. */
const eventLabels: Readonly<Record<WebhookEvent, string>> = {
  on_auth_creation: 'A connection was created',
  on_auth_refresh_error: 'A refresh of credentials failed',
  on_sync_completion_always: 'A sync ended without changes',
  on_sync_error: 'A sync failed',
  on_async_action_completion: 'An asynchronous action ended',
};
const webhookEvents = Object.keys(eventLabels) as readonly WebhookEvent[];

interface SettingsProps {
  readonly environment: Environment;
}

/** Each part is saved with the button at the end; only what was changed is sent. */
export function EnvironmentSettings({ environment }: SettingsProps): JSX.Element {
  const { can } = useAccess();
  const [patch, setPatch] = useState<Patch>({});
  const set = (changed: Patch): void => setPatch({ ...patch, ...changed });
  const save = useChange(
    (client) =>
      client.request('PATCH /environments/{environmentId}', {
        params: { environmentId: environment.id },
        body: patch,
      }),
    { done: 'The settings were saved', onDone: () => setPatch({}), showsFailure: true },
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Webhooks environment={environment} patch={patch} set={set} />
      <Records environment={environment} patch={patch} set={set} />
      {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
      {can('account:environments:update') && (
        <div>
          <Button
            type="submit"
            tone="primary"
            isDisabled={Object.keys(patch).length === 0}
            isBusy={save.isPending}
          >
            Save the settings
          </Button>
        </div>
      )}
    </form>
  );
}

const Webhooks = ({ environment, patch, set }: PartProps): JSX.Element => (
  <div class="card padded stack">
    <h2>Webhooks</h2>
    <TextField
      label="Webhook address"
      type="url"
      value={patch.webhook_url ?? environment.webhook_url ?? ''}
      onInput={(webhook_url) => set({ webhook_url })}
    />
    <TextField
      label="Second webhook address"
      type="url"
      value={patch.webhook_url_secondary ?? environment.webhook_url_secondary ?? ''}
      onInput={(webhook_url_secondary) => set({ webhook_url_secondary })}
    />
    {webhookEvents.map((name) => (
      <Check
        key={name}
        label={eventLabels[name]}
        isChecked={patch[name] ?? environment[name]}
        onChange={(isChecked) => set({ [name]: isChecked })}
      />
    ))}
  </div>
);

interface PartProps extends SettingsProps {
  readonly patch: Patch;
  readonly set: (changed: Patch) => void;
}

function Records({ environment, patch, set }: PartProps): JSX.Element {
  const retention = { ...environment.retention, ...patch.retention };
  return (
    <div class="card padded stack">
      <h2>Records</h2>
      <TextField
        label="Prune payloads after (days without a run)"
        type="number"
        value={String(retention.prune_after_days)}
        onInput={(days) => set({ retention: { ...retention, prune_after_days: Number(days) } })}
      />
      <TextField
        label="Delete records after (days without a run)"
        type="number"
        value={String(retention.delete_after_days)}
        onInput={(days) => set({ retention: { ...retention, delete_after_days: Number(days) } })}
      />
      <Select
        label="Validation of input, output and records"
        value={patch.validation ?? environment.validation}
        choices={['off', 'warn', 'error'].map((value) => ({ value, label: value }))}
        onChange={(value) => {
          const validation = (['off', 'warn', 'error'] as const).find((one) => one === value);
          if (validation !== undefined) set({ validation });
        }}
      />
    </div>
  );
}
