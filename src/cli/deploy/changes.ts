import { printable } from '#kernel/printable.ts';
import type { FunctionChange } from '#modules/functions/functions/changes.ts';

type FieldChange = FunctionChange['fields'][number];

/** What has changed about a function, each change as one text: `frequency: every hour → every day`. */
export const changeTexts = (changes: readonly FunctionChange[]): string[] =>
  changes.map(({ part, model, from, to, fields }) => {
    if (model !== null) return `${model}: ${fieldTexts(fields)}`;
    if (from === null && to === null) return part;
    return `${part}: ${shortText(from)} → ${shortText(to)}`;
  });

/** `+ email (string), - phone (string), size: number → string` */
export const fieldTexts = (fields: readonly FieldChange[]): string =>
  fields
    .map(({ field, change, from, to }) => {
      const name = field === '' ? 'the whole' : field;
      if (change === 'added') return `+ ${name} (${shortText(to)})`;
      if (change === 'removed') return `- ${name} (${shortText(from)})`;
      return `${name}: ${shortText(from)} → ${shortText(to)}`;
    })
    .join(', ');

const shownCharsMax = 60;

function shortText(text: string | null): string {
  if (text === null) return 'none';
  const shown = text === '' ? '""' : printable(text);
  return shown.length <= shownCharsMax ? shown : `${shown.slice(0, shownCharsMax - 1)}…`;
}
