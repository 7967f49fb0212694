import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Select, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { OnlyOfFields } from '../../shell/filter.tsx';
import { feedStart, fromOf, StartFields } from './start-fields.tsx';
import { TargetFields, webhookFields, webhookOf } from './target-fields.tsx';

/** What the form holds: empty text is none. */
interface Fields {
  readonly name: string;
  readonly integration: string;
  readonly connection: string;
  readonly model: string;
  readonly variant: string;
}

const nothing: Fields = { name: '', integration: '', connection: '', model: '', variant: '' };

const filterOf = ({ integration, connection, model, variant }: Fields) => ({
  ...(integration === '' ? {} : { provider_config_key: integration }),
  ...(connection === '' ? {} : { connection_id: connection }),
  ...(model === '' ? {} : { model }),
  ...(variant === '' ? {} : { variant }),
});

const deliveries = [
  { value: 'read', label: 'A program reads and commits them' },
  { value: 'posted', label: 'The gateway posts them to an address' },
] as const;

export function CreateSubscription({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [fields, setFields] = useState<Fields>(nothing);
  const [start, setStart] = useState(feedStart);
  const [isPosted, setPosted] = useState(false);
  const [target, setTarget] = useState(webhookFields);
  const { name } = fields;
  const create = useChange(
    (client) =>
      client.request('PUT /subscriptions/{name}', {
        params: { name },
        body: {
          ...filterOf(fields),
          from: fromOf(start),
          ...(isPosted ? { target: webhookOf(target) } : {}),
        },
      }),
    {
      done: `The subscription ${name} was created`,
      onDone: () => navigate(path(pathOf('subscriptions', name))),
      showsFailure: true,
    },
  );
  return (
    <Dialog title="Create a subscription" onClose={onClose}>
      <ChangeForm change={create} verb="Create the subscription">
        <TextField
          label="Name"
          hint="Of the program that gets the changes, such as warehouse"
          value={name}
          isRequired
          onInput={(value) => setFields({ ...fields, name: value })}
        />
        <FilterFields fields={fields} onChange={setFields} />
        <StartFields label="Begins at" start={start} onChange={setStart} />
        <Select
          label="Delivery"
          value={isPosted ? 'posted' : 'read'}
          choices={deliveries}
          onChange={(value) => setPosted(value === 'posted')}
        />
        {isPosted && <TargetFields fields={target} onChange={setTarget} />}
      </ChangeForm>
    </Dialog>
  );
}

interface FilterFieldsProps {
  readonly fields: Fields;
  readonly onChange: (fields: Fields) => void;
}

/** Which changes it has; all without a value. */
function FilterFields({ fields, onChange }: FilterFieldsProps): JSX.Element {
  const set = (changed: Partial<Fields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <OnlyOfFields
        integration={fields.integration}
        connection={fields.connection}
        onChange={set}
      />
      <TextField
        label="Only of the model"
        hint="Leave empty for all models"
        value={fields.model}
        onInput={(model) => set({ model })}
      />
      <TextField
        label="Only of the variant"
        hint="Leave empty for all variants of syncs"
        value={fields.variant}
        onInput={(variant) => set({ variant })}
      />
    </>
  );
}
