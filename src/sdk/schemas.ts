import type { z } from 'zod';

/**
 * The structural part of a zod schema: TypeScript compares a few properties per definition, whereas with zod's own
 * classes it would compare all their methods.
 */
interface SchemaOf<Type extends string, Output> {
  readonly _zod: { readonly def: { readonly type: Type }; readonly output: Output };
}

export type Schema = SchemaOf<string, unknown>;
/** A schema whose output is known. */
export type SchemaWith<Output> = SchemaOf<string, Output>;

/** Schema of one model; every record has an `id`. */
type ModelSchema = SchemaOf<'object', { id: string; [field: string]: unknown }>;
/** Model name to schema. Names match `^[A-Z][a-zA-Z0-9_]+$`. */
export type Models = Readonly<Record<string, ModelSchema>>;

/** Shape of a row of a projection: `z.object()` whose fields are its columns. */
export type RowSchema = SchemaOf<'object', { [column: string]: unknown }>;

/** Shape of the connection's metadata: an object, or `z.void()`. */
export type MetadataSchema = SchemaOf<'object' | 'void', unknown>;

type FlatValue = string | number | boolean;
/** Shape of a checkpoint: a flat object of strings, numbers and booleans. */
export type CheckpointSchema = SchemaOf<string, Readonly<Record<string, FlatValue | undefined>>>;

/** The metadata type of a schema in a function; anything without a schema. */
export type MetadataOf<S extends MetadataSchema> = 'void' extends S['_zod']['def']['type']
  ? Record<string, unknown>
  : z.infer<S>;
