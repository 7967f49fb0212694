import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Subscription } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { TargetFields, webhookOf, type WebhookFields } from './target-fields.tsx';

interface ChangeTargetProps {
  readonly subscription: Subscription;
  readonly target: Extract<Subscription['target'], { type: 'webhook' }>;
}

/** The address is asked for again: the API shows it without its path. */
export function ChangeTarget({ subscription, target }: ChangeTargetProps): JSX.Element {
  const { name } = subscription;
  /** Null: the form is not open. */
  const [fields, setFields] = useState<WebhookFields | null>(null);
  const close = (): void => setFields(null);
  const current: WebhookFields = {
    url: '',
    payload: target.payload,
    batchSize: `${target.batch_size}`,
    retries: `${target.retries}`,
  };
  const change = useChange(
    (client) =>
      client.request('PUT /subscriptions/{name}', {
        params: { name },
        body: { ...filterOf(subscription), target: webhookOf(fields ?? current) },
      }),
    { done: `The target of ${name} was changed`, onDone: close, showsFailure: true },
  );
  return (
    <>
      <Button onPress={() => setFields(current)}>Change target…</Button>
      {fields !== null && (
        <Dialog title={`Change the target of ${name}`} onClose={close}>
          <ChangeForm change={change} verb="Change the target">
            <p>Its position stays: the next changes go to the new address. Now: {target.url}</p>
            <TargetFields fields={fields} onChange={setFields} />
          </ChangeForm>
        </Dialog>
      )}
    </>
  );
}

function filterOf({
  provider_config_key: integration,
  connection_id: connection,
  model,
  variant,
}: Subscription) {
  return {
    ...(integration === null ? {} : { provider_config_key: integration }),
    ...(connection === null ? {} : { connection_id: connection }),
    ...(model === null ? {} : { model }),
    ...(variant === null ? {} : { variant }),
  };
}
