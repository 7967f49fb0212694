import { z } from 'zod';
import type { Json } from '../kernel/stable-json.ts';

type Schemas = Readonly<Record<string, z.ZodType>>;
/** Read-only at every level; a map and any JSON are left as they are. */
type Shown<T> = [Json] extends [T]
  ? T
  : T extends object
    ? string extends keyof T
      ? Readonly<T>
      : { readonly [Name in keyof T]: Shown<T[Name]> }
    : T;
type Values<Fields extends Schemas> = Shown<z.output<z.ZodObject<Fields, z.core.$strict>>>;

/**
 * Declares a response once: by field its schema and what it shows of the subject. A field that shows undefined is
 * absent.
 */
export const representation =
  <Subject>() =>
  <Fields extends Schemas>(fields: {
    readonly [Name in keyof Fields]: readonly [
      schema: Fields[Name],
      show: (subject: Subject) => Shown<z.output<Fields[Name]>>,
    ];
  }) => {
    const entries = Object.entries<readonly [z.ZodType, (subject: Subject) => unknown]>(fields);
    const schemas = Object.fromEntries(entries.map(([name, [schema]]) => [name, schema]));
    return {
      // Both have the names and types of `fields`.
      schema: z.strictObject(schemas as Fields),
      of: (subject: Subject): Values<Fields> => {
        const values = entries.map(([name, [, show]]) => [name, show(subject)] as const);
        const shown = values.filter(([, value]) => value !== undefined);
        return Object.fromEntries(shown) as Values<Fields>;
      },
    };
  };
