import type { JSX } from 'preact';
import type { SubscriptionTargetToSet } from '#client/index.ts';
import { Select, TextField } from '../../design/field.tsx';

/** Where the gateway posts changes, as a form holds it. */
export interface WebhookFields {
  readonly url: string;
  readonly payload: 'ids' | 'records';
  readonly batchSize: string;
  readonly retries: string;
}

export const webhookFields: WebhookFields = {
  url: '',
  payload: 'records',
  batchSize: '100',
  retries: '4',
};

/** As the API takes it. */
export const webhookOf = ({
  url,
  payload,
  batchSize,
  retries,
}: WebhookFields): SubscriptionTargetToSet => ({
  type: 'webhook',
  url,
  payload,
  batch_size: Number(batchSize),
  retries: Number(retries),
});

const payloads = [
  { value: 'records', label: 'Changes with their records' },
  { value: 'ids', label: 'Changes without their records' },
] as const;

interface WebhookFieldsProps {
  readonly fields: WebhookFields;
  readonly onChange: (fields: WebhookFields) => void;
}

export function TargetFields({ fields, onChange }: WebhookFieldsProps): JSX.Element {
  const set = (changed: Partial<WebhookFields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <TextField
        label="Address"
        hint="It gets signed requests. Its path is kept secret, so that it may hold a token"
        type="url"
        isRequired
        value={fields.url}
        onInput={(url) => set({ url })}
      />
      <Select
        label="Each request has"
        value={fields.payload}
        choices={payloads}
        onChange={(value) => set({ payload: value === 'ids' ? 'ids' : 'records' })}
      />
      <TextField
        label="Changes of a request, at most"
        type="number"
        isRequired
        value={fields.batchSize}
        onInput={(batchSize) => set({ batchSize })}
      />
      <TextField
        label="Further requests before a refused change is parked"
        type="number"
        isRequired
        value={fields.retries}
        onInput={(retries) => set({ retries })}
      />
    </>
  );
}
