import type { ComponentChildren, JSX } from 'preact';

export type KeyValue = readonly [name: string, value: ComponentChildren];

/** Facts of one thing; those without a value show a dash. */
export function KeyValues({ rows }: { readonly rows: readonly KeyValue[] }): JSX.Element {
  return (
    <dl class="key-values">
      {rows.map(([name, value]) => (
        <>
          <dt key={`${name}-name`}>{name}</dt>
          <dd key={name}>{value === null || value === undefined || value === '' ? '–' : value}</dd>
        </>
      ))}
    </dl>
  );
}
