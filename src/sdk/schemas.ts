import type { z } from 'zod';

export type Schema = z.ZodType;

/** Schema of one model; every record has an `id`. */
type ModelSchema = z.ZodObject<{ id: z.ZodType<string> } & z.core.$ZodLooseShape>;
/** Model name to schema. Names match `^[A-Z][a-zA-Z0-9_]+$`. */
export type Models = Readonly<Record<string, ModelSchema>>;

/** Shape of the connection's metadata: an object, or `z.void()`. */
export type MetadataSchema = z.ZodObject | z.ZodVoid;

type Flat = string | number | boolean;
/** Shape of a checkpoint: a flat object of strings, numbers and booleans. */
export type CheckpointSchema = z.ZodType<Readonly<Record<string, Flat | undefined>>>;

/** What the metadata of a schema is in a function; anything, where no schema is given. */
export type MetadataOf<S extends MetadataSchema> = [z.ZodVoid] extends [S]
  ? Record<string, unknown>
  : z.infer<S>;
