import type { ComponentChildren, JSX } from 'preact';

export type KeyValue = readonly [name: string, value: ComponentChildren];

const isEmpty = (value: ComponentChildren): boolean =>
  value === null || value === undefined || value === '';

/** Facts of one thing; those without a value are left out. */
export function KeyValues({ rows }: { readonly rows: readonly KeyValue[] }): JSX.Element {
  return (
    <dl class="key-values">
      {rows
        .filter(([, value]) => !isEmpty(value))
        .map(([name, value]) => (
          <>
            <dt key={`${name}-name`}>{name}</dt>
            <dd key={name}>{value}</dd>
          </>
        ))}
    </dl>
  );
}
