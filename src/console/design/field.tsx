import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useElementId } from './element-id.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong with the value; marks the control as invalid. */
  readonly problem?: string | undefined;
  readonly isWide?: boolean;
}

interface DescribedControl {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: boolean;
}

function Field(
  props: FieldProps & { readonly control: (described: DescribedControl) => ComponentChildren },
): JSX.Element {
  const { label, hint, problem, isWide, control } = props;
  const id = useElementId();
  const about = `${id}-about`;
  const isDescribed = hint !== undefined || problem !== undefined;
  return (
    <div class={isWide === true ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {control({
        id,
        ...(isDescribed ? { 'aria-describedby': about } : {}),
        ...(problem === undefined ? {} : { 'aria-invalid': true }),
      })}
      {isDescribed && (
        <span id={about} class={problem === undefined ? 'hint' : 'problem'}>
          {problem ?? hint}
        </span>
      )}
    </div>
  );
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly type?: 'text' | 'password' | 'search' | 'number' | 'url' | 'datetime-local' | 'color';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  /** Why a form with this text is not sent. */
  readonly refusal?: string | undefined;
  /** Values that the browser offers. */
  readonly suggestions?: readonly Choice[];
  readonly onInput: (value: string) => void;
  /** Called with Enter, and when the field loses the focus. */
  readonly onCommit?: () => void;
}

export function TextField(props: TextProps): JSX.Element {
  const { value, type = 'text', placeholder, isRequired, isDisabled, suggestions, onInput } = props;
  return (
    <Field
      {...props}
      control={(described) => (
        <>
          <input
            {...described}
            ref={(input) => input?.setCustomValidity(props.refusal ?? '')}
            class="input"
            type={type}
            value={value}
            placeholder={placeholder}
            required={isRequired}
            disabled={isDisabled}
            autoComplete="off"
            spellcheck={false}
            step={type === 'number' ? 'any' : undefined}
            list={suggestions === undefined ? undefined : `${described.id}-list`}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onKeyDown={({ key }) => {
              if (key === 'Enter') props.onCommit?.();
            }}
            onBlur={() => props.onCommit?.()}
          />
          {suggestions !== undefined && (
            <datalist id={`${described.id}-list`}>
              {suggestions.map((one) => (
                <option key={one.value} value={one.value} label={one.label} />
              ))}
            </datalist>
          )}
        </>
      )}
    />
  );
}

interface AreaProps extends FieldProps {
  readonly value: string;
  readonly rows?: number;
  readonly placeholder?: string;
  /** The element, for those who change its selection. */
  readonly area?: RefObject<HTMLTextAreaElement>;
  readonly onInput: (value: string) => void;
  /** Called with Ctrl-Enter, or Cmd-Enter. */
  readonly onSubmit?: () => void;
}

/** Text of more than one line, such as JSON. */
export function TextArea(props: AreaProps): JSX.Element {
  const { value, rows = 8, placeholder, onInput } = props;
  return (
    <Field
      {...props}
      control={(described) => (
        <textarea
          {...described}
          class="input"
          rows={rows}
          value={value}
          placeholder={placeholder}
          spellcheck={false}
          {...(props.area === undefined ? {} : { ref: props.area })}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={({ key, ctrlKey, metaKey }) => {
            if (key === 'Enter' && (ctrlKey || metaKey)) props.onSubmit?.();
          }}
        />
      )}
    />
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends FieldProps {
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly isDisabled?: boolean;
  readonly onChange: (value: string) => void;
}

export function Select(props: SelectProps): JSX.Element {
  const { value, choices, isDisabled, onChange } = props;
  return (
    <Field
      {...props}
      control={(described) => (
        <select
          {...described}
          class="input"
          value={value}
          disabled={isDisabled}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}

interface CheckProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function Check({ label, hint, isChecked, isDisabled, onChange }: CheckProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="muted"> {hint}</span>}
      </span>
    </label>
  );
}

interface ChoiceSetProps<Value extends string> {
  readonly label: string;
  readonly choices: readonly {
    readonly value: Value;
    readonly label: string;
    readonly hint?: string | undefined;
  }[];
  readonly chosen: readonly Value[];
  /** In the order of the choices. */
  readonly onChange: (chosen: readonly Value[]) => void;
}

/** Any number of some choices. */
export function ChoiceSet<Value extends string>(props: ChoiceSetProps<Value>): JSX.Element {
  const { label: legend, choices, chosen, onChange } = props;
  const values = choices.map(({ value }) => value);
  return (
    <fieldset class="choices">
      <legend class="label">{legend}</legend>
      {choices.map(({ value, label, hint }) => (
        <Check
          key={value}
          label={label}
          hint={hint}
          isChecked={chosen.includes(value)}
          onChange={(isChecked) =>
            onChange(values.filter((one) => (one === value ? isChecked : chosen.includes(one))))
          }
        />
      ))}
    </fieldset>
  );
}
