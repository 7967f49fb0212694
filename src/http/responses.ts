import { z } from 'zod';
import type { Json } from '#kernel/stable-json.ts';

/** A successful response of a route with one status; the OpenAPI document uses it. */
export interface ResponseShape {
  readonly description: string;
  /** Media type of the body; null: it has none. */
  readonly type: string | null;
  /** Media types that a client may ask for in its place. */
  readonly otherTypes?: readonly string[];
  /** Of a JSON body. */
  readonly schema: z.ZodType | null;
}

/** By status. */
export type Responses = Readonly<Record<number, ResponseShape>>;

export const json = (description: string, schema: z.ZodType): ResponseShape => ({
  description,
  type: 'application/json',
  schema,
});

/** A body that is not JSON of the API: a page, a script, a stream of events. */
export const content = (
  description: string,
  type: string,
  ...otherTypes: readonly string[]
): ResponseShape => ({ description, type, otherTypes, schema: null });

export const nothing = (description: string): ResponseShape => ({
  description,
  type: null,
  schema: null,
});

/** `{"data": …}` */
export const data = <S extends z.ZodType>(schema: S) => z.strictObject({ data: schema });

const success = z.strictObject({ success: z.literal(true) }).meta({ id: 'Success' });

/** The response of a route without a result. */
export const succeeded: Responses = { 200: json('It is done.', success) };

/** Any JSON value. */
export const anyJson = z.custom<Json>();

/** `2026-02-01T08:00:00.000Z`, with more digits or an offset where the contract has them. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .meta({ examples: ['2026-02-01T08:00:00.000Z'] });
