import { z } from 'zod';
import type { Json } from '#kernel/stable-json.ts';
import { notMapped } from '#ports/sandbox.ts';
import { schemaOf } from './definition.ts';
import { quicklyValid } from './quick-validate.ts';

type Definition = Readonly<Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;

const messageCharsMax = 500;

/** A line for each change (`Sandbox.map`): a mapping that throws on one holds up no other. */
export function mapChanges(definition: Definition, text: string): string {
  const { map, row } = definition;
  if (typeof map !== 'function' || !(row instanceof z.ZodObject)) {
    throw new Error('The projection has no map, or its row is no z.object().');
  }
  const columns = Object.keys(row.shape);
  const check = checkOf(row);
  const changes = JSON.parse(text) as readonly unknown[];
  const lines = changes.map((change) => {
    try {
      const mapped: unknown = map.call(definition, change);
      const rows = (mapped == null ? [] : Array.isArray(mapped) ? mapped : [mapped]) as Row[];
      for (const one of rows) check(one);
      return JSON.stringify(columns.map((column) => rows.map((one) => one[column] ?? null)));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return `${notMapped}${message.replaceAll(/\s+/g, ' ').slice(0, messageCharsMax)}`;
    }
  });
  return lines.join('\n');
}

/** @throws Error that names the columns that do not fit */
function checkOf(row: z.ZodObject): (value: unknown) => void {
  let full: z.ZodType | null = null;
  return (value) => {
    if (quicklyValid(row, value)) return;
    if (value instanceof Promise)
      throw new Error('map returned a promise: it should be synchronous');
    full ??= z.fromJSONSchema(schemaOf(row, 'row'));
    const issues = full.safeParse(asJson(value)).error?.issues ?? [];
    if (issues.length === 0) return;
    const places = issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    throw new Error(`The row does not fit: ${places.slice(0, 5).join('; ')}`);
  };
}

/** A row that is no JSON fits no schema of an object. */
const asJson = (value: unknown): Json => {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
};
