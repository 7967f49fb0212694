import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { Check, ChoiceSet, TextArea, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { OnlyOfFields } from '../../shell/filter.tsx';
import {
  authenticationBody,
  AuthenticationInputs,
  authenticationOf,
  type AuthenticationFields,
} from './endpoint-authentication.tsx';
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
  /** One on each line; empty text keeps those that the endpoint has. */
  readonly headers: string;
  readonly authentication: AuthenticationFields;
  /** Seconds, with commas between them. */
  readonly waits: string;
  /** JSON; empty text is none. */
  readonly filter: string;
  readonly isOrdered: boolean;
  /** Days of failures; empty text is never. */
  readonly disableAfter: string;
}

const bodyOf = (
  { url, name, kinds: chosen, integration, connection, ...rest }: Fields,
  endpoint: WebhookEndpoint | null,
) => ({
  url,
  ...(name === '' ? {} : { display_name: name }),
  kinds: chosen.length === kinds.length ? null : chosen,
  provider_config_key: integration === '' ? null : integration,
  connection_id: connection === '' ? null : connection,
  ...(rest.headers.trim() === '' ? {} : { headers: headersIn(rest.headers) }),
  ...authenticationBody(rest.authentication, endpoint),
  retry_waits_seconds: rest.waits.trim() === '' ? null : rest.waits.split(',').map(Number),
  filter: rest.filter.trim() === '' ? null : filterIn(rest.filter),
  ordered: rest.isOrdered,
  disable_after_days: rest.disableAfter.trim() === '' ? null : Number(rest.disableAfter),
});

/** `none` removes all; the gateway refuses a line that is no header, by its name. */
function headersIn(text: string): Readonly<Record<string, string>> | null {
  if (text.trim() === 'none') return null;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );
}

/** @throws Error for text that is no JSON; the gateway refuses a filter with the place */
function filterIn(text: string): NonNullable<WebhookEndpoint['filter']> {
  try {
    return JSON.parse(text) as NonNullable<WebhookEndpoint['filter']>;
  } catch (cause) {
    throw new Error('The filter is not JSON.', { cause });
  }
}

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
    headers: '',
    authentication: authenticationOf(null),
    waits: '',
    filter: '',
    isOrdered: false,
    disableAfter: '5',
  });
  const create = useChange(
    (client) => client.request('POST /webhook-endpoints', { body: bodyOf(fields, null) }),
    { done: 'The endpoint was added', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <ChangeForm change={create} verb="Add the endpoint">
        <EndpointFields fields={fields} endpoint={null} onChange={setFields} />
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
    headers: '',
    authentication: authenticationOf(endpoint),
    waits: endpoint.retry_waits_seconds?.join(', ') ?? '',
    filter: endpoint.filter === null ? '' : JSON.stringify(endpoint.filter, null, 2),
    isOrdered: endpoint.ordered,
    disableAfter: endpoint.disable_after_days?.toString() ?? '',
  });
  const save = useChange(
    (client) =>
      client.request('PATCH /webhook-endpoints/{id}', {
        params: { id: endpoint.id },
        body: bodyOf(fields, endpoint),
      }),
    { done: 'The endpoint was saved', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <ChangeForm change={save} verb="Save the endpoint">
        <EndpointFields fields={fields} endpoint={endpoint} onChange={setFields} />
      </ChangeForm>
    </Dialog>
  );
}

const kindChoices = kinds.map((value) => ({ value, label: labelOfWebhook(value) }));

interface FieldsProps {
  readonly fields: Fields;
  /** Null: it is added. */
  readonly endpoint: WebhookEndpoint | null;
  readonly onChange: (fields: Fields) => void;
}

function EndpointFields({ fields, endpoint, onChange }: FieldsProps): JSX.Element {
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
      <OnlyOfFields
        integration={fields.integration}
        connection={fields.connection}
        onChange={set}
      />
      <SendingFields fields={fields} endpoint={endpoint} onChange={onChange} />
    </>
  );
}

/** How its webhooks are sent, and which. */
function SendingFields({ fields, endpoint, onChange }: FieldsProps): JSX.Element {
  const headerNames = endpoint?.header_names ?? [];
  const set = (changed: Partial<Fields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <TextArea
        label="Headers"
        rows={2}
        hint={
          headerNames.length === 0
            ? 'Name: value, one on each line'
            : `Name: value, one on each line, in place of ${headerNames.join(', ')}; empty keeps these, none removes them`
        }
        value={fields.headers}
        onInput={(headers) => set({ headers })}
      />
      <AuthenticationInputs
        fields={fields.authentication}
        endpoint={endpoint}
        onChange={(authentication) => set({ authentication })}
      />
      <TextField
        label="Waits before retries"
        hint="Seconds, such as 3, 60, 3600; empty: those of the environment"
        value={fields.waits}
        onInput={(waits) => set({ waits })}
      />
      <TextArea
        label="Filter"
        rows={3}
        hint='JSON, such as {"match":"all","conditions":[{"path":"/success","op":"equals","value":false}]}; empty: everything'
        value={fields.filter}
        onInput={(filter) => set({ filter })}
      />
      <Check
        label="One webhook of a connection at a time, in order"
        isChecked={fields.isOrdered}
        onChange={(isOrdered) => set({ isOrdered })}
      />
      <TextField
        label="Disable after days of failures"
        hint="1 to 30, with a notice to alert destinations; empty: never"
        value={fields.disableAfter}
        onInput={(disableAfter) => set({ disableAfter })}
      />
    </>
  );
}
