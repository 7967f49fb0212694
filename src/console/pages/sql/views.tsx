import type { JSX } from 'preact';
import type { Answer } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { LoadedState } from '../../shell/loaded.tsx';

interface ViewsProps {
  /** A name was pressed. */
  readonly onInsert: (name: string) => void;
}

/** The views with their columns; a press on a name writes it into the query. */
export function Views({ onInsert }: ViewsProps): JSX.Element {
  const query = useRead('GET /sql/views', {});
  return (
    <section class="card views" aria-label="Views">
      <div class="card-head">
        <h2>Views</h2>
        <a href="/docs/sql" target="_blank" rel="noopener">
          Documentation
        </a>
      </div>
      <div class="card-body">
        <LoadedState query={query}>
          {({ data }) =>
            data.map((view) => <View key={view.name} view={view} onInsert={onInsert} />)
          }
        </LoadedState>
      </div>
    </section>
  );
}

interface ViewProps extends ViewsProps {
  readonly view: Answer<'GET /sql/views'>['data'][number];
}

const View = ({ view: { name, description, columns }, onInsert }: ViewProps): JSX.Element => (
  <details>
    <summary class="mono" title={description}>
      {name}
    </summary>
    <p class="muted">{description}</p>
    <ul>
      <Name name={name} about="all of it" onInsert={onInsert} />
      {columns.map((column) => (
        <Name
          key={column.name}
          name={column.name}
          about={column.type}
          meaning={column.description}
          onInsert={onInsert}
        />
      ))}
    </ul>
  </details>
);

interface NameProps extends ViewsProps {
  readonly name: string;
  readonly about: string;
  readonly meaning?: string;
}

const Name = ({ name, about, meaning, onInsert }: NameProps): JSX.Element => (
  <li>
    <button
      type="button"
      class="name mono"
      title={meaning === undefined ? `Insert ${name}` : `${name}: ${meaning}`}
      onClick={() => onInsert(name)}
    >
      {name}
    </button>
    <span class="clip muted" title={about}>
      {about}
    </span>
  </li>
);
