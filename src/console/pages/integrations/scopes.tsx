import type { JSX } from 'preact';
import type { Provider } from '#client/index.ts';
import { ChoiceSet, TextField } from '../../design/field.tsx';

/** Scopes of the choice, and those that were entered. */
export interface Scopes {
  readonly chosen: readonly string[];
  readonly entered: string;
}

export const defaultScopes = (provider: Provider): Scopes => ({
  chosen: provider.default_scopes ?? [],
  entered: '',
});

/** As an integration takes them; undefined: those of the provider, which has none. */
export function scopesText(provider: Provider, { chosen, entered }: Scopes): string | undefined {
  const all = [...new Set([...chosen, ...wordsOf(entered)])];
  return all.length === 0 && provider.default_scopes === undefined ? undefined : all.join(',');
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** RFC 6749 section 3.3. */
const scope = /^[!#-[\]-~]+$/;

export function scopesProblem({ entered }: Scopes): string | undefined {
  const wrong = wordsOf(entered).find((word) => !scope.test(word));
  return wrong && `“${wrong}” is no scope: quotes, backslashes and other letters are not allowed.`;
}

interface ScopeFieldsProps {
  readonly provider: Provider;
  readonly scopes: Scopes;
  readonly problem: string | undefined;
  readonly onChange: (scopes: Scopes) => void;
}

/** The scopes that the definition knows, with what they allow, and a field for others. */
export function ScopeFields(props: ScopeFieldsProps): JSX.Element {
  const { provider, scopes, problem, onChange } = props;
  const { scope_descriptions: descriptions = {} } = provider;
  const known = new Set([
    ...(provider.default_scopes ?? []),
    ...(provider.available_scopes ?? []),
    ...Object.keys(descriptions),
  ]);
  return (
    <>
      {known.size > 0 && (
        <ChoiceSet
          label="Scopes"
          choices={[...known].map((value) => {
            const meaning = descriptions[value];
            return meaning === undefined
              ? { value, label: value }
              : { value, label: meaning, hint: value };
          })}
          chosen={scopes.chosen}
          onChange={(chosen) => onChange({ ...scopes, chosen })}
        />
      )}
      <TextField
        label={known.size > 0 ? 'Further scopes' : 'Scopes'}
        hint="With spaces or commas between them, as the provider writes them. They can be changed later."
        problem={problem}
        value={scopes.entered}
        onInput={(entered) => onChange({ ...scopes, entered })}
      />
    </>
  );
}
