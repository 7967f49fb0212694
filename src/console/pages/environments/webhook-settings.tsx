import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Environment, Input } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Check, TextField } from '../../design/field.tsx';
import { FailureNotice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

export type EnvironmentPatch = NonNullable<Input<'PATCH /environments/{environmentId}'>['body']>;

/** A part of a form of settings, of which only what was changed is sent. */
export interface PartProps {
  readonly environment: Environment;
  readonly patch: EnvironmentPatch;
  readonly set: (changed: EnvironmentPatch) => void;
}

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

export const WebhookFields = ({ environment, patch, set }: PartProps): JSX.Element => (
  <div class="card padded stack">
    <h2>Addresses and events of the environment</h2>
    <TextField
      label="Webhook address"
      hint="Gets every kind of webhook; empty: none is sent to it. Listed above as “primary”."
      type="url"
      value={patch.webhook_url ?? environment.webhook_url ?? ''}
      onInput={(webhook_url) => set({ webhook_url })}
    />
    <TextField
      label="Second webhook address"
      hint="Gets the same as the first; listed as “secondary”."
      type="url"
      value={patch.webhook_url_secondary ?? environment.webhook_url_secondary ?? ''}
      onInput={(webhook_url_secondary) => set({ webhook_url_secondary })}
    />
    <p class="muted">Webhooks are sent, to these addresses and to all endpoints, when</p>
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

/** The form on a page of the environment, saved by itself. */
export function WebhookSettings({ environmentId }: { readonly environmentId: number }) {
  const query = useRead('GET /environments/{environmentId}', { params: { environmentId } });
  return (
    <LoadedState query={query}>{({ data }) => <WebhookForm environment={data} />}</LoadedState>
  );
}

function WebhookForm({ environment }: Pick<PartProps, 'environment'>): JSX.Element {
  const { can } = useAccess();
  const [patch, setPatch] = useState<EnvironmentPatch>({});
  const save = useChange(
    (client) =>
      client.request('PATCH /environments/{environmentId}', {
        params: { environmentId: environment.id },
        body: patch,
      }),
    {
      done: 'The addresses and events were saved',
      onDone: () => setPatch({}),
      showsFailure: true,
    },
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <WebhookFields
        environment={environment}
        patch={patch}
        set={(changed) => setPatch({ ...patch, ...changed })}
      />
      {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
      {can('account:environments:update') && (
        <div>
          <Button
            type="submit"
            isDisabled={Object.keys(patch).length === 0}
            isBusy={save.isPending}
          >
            Save addresses and events
          </Button>
        </div>
      )}
    </form>
  );
}
