import { z } from 'zod';
import type { Json } from '#kernel/stable-json.ts';

type Schemas = Readonly<Record<string, z.ZodType>>;
/** Read-only at every level; a map and any JSON are left as they are. */
export type DeepReadonly<T> = [Json] extends [T]
  ? T
  : T extends object
    ? string extends keyof T
      ? Readonly<T>
      : { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T;
type Values<Fields extends Schemas> = DeepReadonly<z.output<z.ZodObject<Fields, z.core.$strict>>>;

/** `connection_id` → `connectionId` */
type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

type Row<Subject, Schema, Value> = readonly [schema: Schema, show: (subject: Subject) => Value];
/** A schema alone: the subject has a property of the same name, in camel case. */
type Field<Subject, Name, Schema, Value> =
  | Row<Subject, Schema, Value>
  | (Camel<Name> extends keyof Subject
      ? Subject[Camel<Name>] extends Value
        ? Schema
        : never
      : never);

/**
 * Declares a response once: by field its schema and what it shows of the subject, by default the property of the same
 * name (`connection_id`: `connectionId`). A field that shows undefined is absent.
 */
export const representation =
  <Subject>() =>
  <Fields extends Schemas>(fields: {
    readonly [Name in keyof Fields]: Field<
      Subject,
      Name,
      Fields[Name],
      DeepReadonly<z.output<Fields[Name]>>
    >;
  }) => {
    const declared = Object.entries<z.ZodType | Row<Subject, z.ZodType, unknown>>(fields);
    const entries = declared.map(([name, field]) => {
      if (!(field instanceof z.ZodType)) return [name, ...field] as const;
      // `Field` has checked that it exists.
      const property = camel(name) as keyof Subject;
      return [name, field, (subject: Subject): unknown => subject[property]] as const;
    });
    const schemas = Object.fromEntries(entries.map(([name, schema]) => [name, schema]));
    return {
      // Both have the names and types of `fields`.
      schema: z.strictObject(schemas as Fields),
      of: (subject: Subject): Values<Fields> => {
        const values = entries.map(([name, , show]) => [name, show(subject)] as const);
        const shown = values.filter(([, value]) => value !== undefined);
        return Object.fromEntries(shown) as Values<Fields>;
      },
    };
  };
