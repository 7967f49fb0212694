import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { ChoiceSet, Select, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { useIntegrationChoices } from '../../shell/filter.tsx';
import { labelOfWebhook, webhookKinds, type WebhookKind } from './webhook-kinds.ts';

/** A test is sent on request, whatever an endpoint takes. */
const isChosen = (kind: WebhookKind): boolean => kind !== 'test';
const kinds = webhookKinds.filter(isChosen);

/** What the form holds: empty text is none. */
interface Fields {
  readonly url: string;
  readonly name: string;
  readonly kinds: readonly WebhookKind[];
  readonly integration: string;
  readonly connection: string;
}

const bodyOf = ({ url, name, kinds: chosen, integration, connection }: Fields) => ({
  url,
  ...(name === '' ? {} : { display_name: name }),
  kinds: chosen.length === kinds.length ? null : chosen,
  provider_config_key: integration === '' ? null : integration,
  connection_id: connection === '' ? null : connection,
});

interface AddProps {
  readonly onClose: () => void;
}

export function AddEndpoint({ onClose }: AddProps): JSX.Element {
  const [fields, setFields] = useState<Fields>({
    url: '',
    name: '',
    kinds,
    integration: '',
    connection: '',
  });
  const create = useChange(
    (client) => client.request('POST /webhook-endpoints', { body: bodyOf(fields) }),
    { done: 'The endpoint was added', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <ChangeForm change={create} verb="Add the endpoint">
        <EndpointFields fields={fields} onChange={setFields} />
      </ChangeForm>
    </Dialog>
  );
}

interface EditProps extends AddProps {
  readonly endpoint: WebhookEndpoint;
}

export function EditEndpoint({ endpoint, onClose }: EditProps): JSX.Element {
  const [fields, setFields] = useState<Fields>({
    url: endpoint.url,
    name: endpoint.display_name,
    kinds: endpoint.kinds?.filter(isChosen) ?? kinds,
    integration: endpoint.provider_config_key ?? '',
    connection: endpoint.connection_id ?? '',
  });
  const save = useChange(
    (client) =>
      client.request('PATCH /webhook-endpoints/{id}', {
        params: { id: endpoint.id },
        body: bodyOf(fields),
      }),
    { done: 'The endpoint was saved', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <ChangeForm change={save} verb="Save the endpoint">
        <EndpointFields fields={fields} onChange={setFields} />
      </ChangeForm>
    </Dialog>
  );
}

const kindChoices = kinds.map((value) => ({ value, label: labelOfWebhook(value) }));

interface FieldsProps {
  readonly fields: Fields;
  readonly onChange: (fields: Fields) => void;
}

function EndpointFields({ fields, onChange }: FieldsProps): JSX.Element {
  const integrations = useIntegrationChoices();
  const set = (changed: Partial<Fields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <TextField
        label="Address"
        type="url"
        value={fields.url}
        isRequired
        onInput={(url) => set({ url })}
      />
      <TextField label="Name" value={fields.name} onInput={(name) => set({ name })} />
      <ChoiceSet
        label="Kinds"
        choices={kindChoices}
        chosen={fields.kinds}
        onChange={(chosen) => set({ kinds: chosen })}
      />
      <Select
        label="Only of the integration"
        value={fields.integration}
        choices={[{ value: '', label: 'All' }, ...integrations]}
        onChange={(integration) => set({ integration })}
      />
      <TextField
        label="Only of the connection"
        hint="Its id; empty: all"
        value={fields.connection}
        onInput={(connection) => set({ connection })}
      />
    </>
  );
}
