import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Function } from '#client/index.ts';
import { Check, Select, TextArea, TextField } from '../../design/field.tsx';

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of an action's input; null when it takes none. */
export function schemaOf({ input, json_schema: schema }: Function): Fields | null {
  const definitions = schema?.['definitions'];
  if (input === undefined || !isObject(definitions)) return null;
  const found = definitions[input];
  return isObject(found) ? found : null;
}

/** The value with which a form starts: the default, or nothing. */
export function emptyOf(schema: Fields | null): unknown {
  if (schema === null) return undefined;
  return schema['default'] ?? (schema['type'] === 'object' ? {} : undefined);
}

interface SchemaFormProps {
  readonly schema: Fields | null;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** A field for each property of an object; anything else is written as JSON. */
export function SchemaForm({ schema, value, onChange }: SchemaFormProps): JSX.Element {
  if (schema === null) return <p class="muted">This action takes no input.</p>;
  const properties = schema['properties'];
  if (schema['type'] !== 'object' || !isObject(properties))
    return <JsonField label="Input" schema={schema} value={value} onChange={onChange} />;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = isObject(value) ? value : {};
  return (
    <>
      {Object.entries(properties).map(([name, property]) => (
        <PropertyField
          key={name}
          label={required.includes(name) ? name : `${name} (optional)`}
          schema={isObject(property) ? property : {}}
          isRequired={required.includes(name)}
          value={fields[name]}
          onChange={(next) => {
            const { [name]: _former, ...rest } = fields;
            onChange(next === undefined ? rest : { ...rest, [name]: next });
          }}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly schema: Fields;
  readonly isRequired?: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function PropertyField(props: FieldProps): JSX.Element {
  const { label, schema, isRequired = false, value, onChange } = props;
  const { type, enum: values, description } = schema;
  const hint = typeof description === 'string' ? description : undefined;
  if (Array.isArray(values))
    return (
      <Select
        label={label}
        hint={hint}
        value={value === undefined ? '' : JSON.stringify(value)}
        choices={[
          { value: '', label: 'Choose' },
          ...values.map((one) => ({ value: JSON.stringify(one), label: String(one) })),
        ]}
        onChange={(text) => onChange(text === '' ? undefined : JSON.parse(text))}
      />
    );
  if (type === 'boolean')
    return <Check label={label} isChecked={value === true} onChange={onChange} />;
  if (type === 'number' || type === 'integer')
    return (
      <TextField
        label={label}
        hint={hint}
        type="number"
        isRequired={isRequired}
        value={typeof value === 'number' ? String(value) : ''}
        onInput={(text) => onChange(text === '' ? undefined : Number(text))}
      />
    );
  if (type === 'string')
    return (
      <TextField
        label={label}
        hint={hint}
        isRequired={isRequired}
        value={typeof value === 'string' ? value : ''}
        onInput={(text) => onChange(text === '' && !isRequired ? undefined : text)}
      />
    );
  return <JsonField {...props} />;
}

function JsonField({ label, value, onChange }: FieldProps): JSX.Element {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [isValid, setValid] = useState(true);
  const read = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setValid(true);
    } catch {
      setValid(false);
    }
  };
  return (
    <TextArea
      label={label}
      hint="JSON"
      rows={5}
      value={text}
      problem={isValid ? undefined : 'This is not JSON.'}
      onInput={read}
    />
  );
}
