import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { counted } from '#kernel/counted.ts';
import { Check, TextField } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { scopeParts, type KeyScope, type ScopePart } from './key-scopes.ts';

interface ScopeTreeProps {
  readonly chosen: ReadonlySet<KeyScope>;
  readonly onChange: (chosen: ReadonlySet<KeyScope>) => void;
}

/** The scopes of an environment by what they are about, with a search. */
export function ScopeTree({ chosen, onChange }: ScopeTreeProps): JSX.Element {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (...texts: string[]): boolean => {
    const text = texts.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const shown = scopeParts
    .map((part) => ({
      ...part,
      scopes: part.scopes.filter((scope) => matches(part.label, ...scope)),
    }))
    .filter(({ scopes }) => scopes.length > 0);
  return (
    <div class="stack">
      <TextField
        label="Search the scopes"
        type="search"
        placeholder="records, or run"
        value={search}
        onInput={setSearch}
      />
      <div class="scope-tree" tabIndex={0} role="group" aria-label="Scopes">
        {shown.map((part) => (
          <Part key={part.label} part={part} chosen={chosen} onChange={onChange} />
        ))}
        {shown.length === 0 && <Notice>No scope has “{search}” in its name or meaning.</Notice>}
      </div>
    </div>
  );
}

interface PartProps extends ScopeTreeProps {
  readonly part: ScopePart;
}

function Part({ part, chosen, onChange }: PartProps): JSX.Element {
  const { label, all, scopes } = part;
  const hasAll = all !== null && chosen.has(all);
  const set = (scope: KeyScope, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(scope);
    else next.delete(scope);
    onChange(next);
  };
  const number = scopes.filter(([scope]) => hasAll || chosen.has(scope)).length;
  return (
    <fieldset class="choices">
      <legend class="label">
        {label}
        {number > 0 && <span class="muted"> · {counted(number, 'scope')}</span>}
      </legend>
      {all !== null && (
        <Check
          label={`All of “${label}”`}
          hint="also those that a later version adds"
          isChecked={hasAll}
          onChange={(isChosen) => set(all, isChosen)}
        />
      )}
      <div class={all === null ? 'scope-list' : 'scope-list nested'}>
        {scopes.map(([scope, meaning]) => (
          <Check
            key={scope}
            label={meaning}
            hint={scope.slice('environment:'.length)}
            isChecked={hasAll || chosen.has(scope)}
            isDisabled={hasAll}
            onChange={(isChosen) => set(scope, isChosen)}
          />
        ))}
      </div>
    </fieldset>
  );
}
