import type { JSX } from 'preact';

interface Change {
  readonly sign: '+' | '-';
  readonly path: string;
  readonly text: string;
}

interface DiffProps {
  readonly before: unknown;
  readonly after: unknown;
  /** What they are of, where a page compares several. */
  readonly subject?: string;
}

/** What two JSON values differ in, by path. */
export function Diff({ before, after, subject }: DiffProps): JSX.Element {
  const changes = changesOf(before, after, '');
  if (changes.length === 0) return <p class="muted">No field differs.</p>;
  return (
    <div
      class="table-frame"
      tabIndex={0}
      role="region"
      aria-label={subject === undefined ? 'Changed fields' : `Changed fields of ${subject}`}
    >
      <table class="table diff">
        <tbody>
          {changes.map(({ sign, path, text }) => (
            <tr key={sign + path} class={sign === '+' ? 'added' : 'removed'}>
              <td class="sign">
                <span aria-hidden="true">{sign}</span>
                <span class="visually-hidden">{sign === '+' ? 'after' : 'before'}</span>
              </td>
              <td class="path">{path}</td>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Entries = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Entries => typeof value === 'object' && value !== null;

/** Undefined where there is no value. */
const jsonOf = (value: unknown): string | undefined => JSON.stringify(value);

/** Fields in which the values differ; lists are compared by position. */
function changesOf(before: unknown, after: unknown, path: string): Change[] {
  const isBoth = isObject(before) && isObject(after);
  if (isBoth && Array.isArray(before) === Array.isArray(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      changesOf(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  const [left, right] = [jsonOf(before), jsonOf(after)];
  if (left === right) return [];
  return [
    ...(left === undefined ? [] : [{ sign: '-' as const, path, text: left }]),
    ...(right === undefined ? [] : [{ sign: '+' as const, path, text: right }]),
  ];
}
