import { z } from 'zod';

/** An answer: its value is in the field that its type names, such as `{ type: 'text', text: 'Yes' }`. */
const TypeformAnswer = z.looseObject({
  type: z.string(),
  field: z.object({ id: z.string(), ref: z.string().nullish(), type: z.string().nullish() }),
});

/** A response as Typeform returns it. */
export const TypeformResponse = z.object({
  response_id: z.string(),
  /** Position in the list. */
  token: z.string(),
  landed_at: z.string().nullish(),
  submitted_at: z.string().nullish(),
  hidden: z.record(z.string(), z.unknown()).nullish(),
  calculated: z.object({ score: z.number().nullish() }).nullish(),
  answers: z.array(TypeformAnswer).nullish(),
});
export type TypeformResponse = z.infer<typeof TypeformResponse>;

export const FormResponse = z.object({
  id: z.string(),
  form_id: z.string(),
  answers: z.array(
    z.object({
      field_id: z.string(),
      /** The name that the form gives the field. */
      field_ref: z.string().nullable(),
      type: z.string(),
      /** Text, number, boolean, or the choices. */
      value: z.unknown(),
    }),
  ),
  hidden: z.record(z.string(), z.unknown()),
  score: z.number().nullable(),
  landed_at: z.string().nullable(),
  submitted_at: z.string().nullable(),
});
export type FormResponse = z.infer<typeof FormResponse>;

export const responseOf = (response: TypeformResponse, formId: string): FormResponse => ({
  id: response.response_id,
  form_id: formId,
  answers: (response.answers ?? []).map(({ type, field, ...values }) => ({
    field_id: field.id,
    field_ref: field.ref ?? null,
    type,
    value: values[type] ?? null,
  })),
  hidden: response.hidden ?? {},
  score: response.calculated?.score ?? null,
  landed_at: response.landed_at ?? null,
  submitted_at: response.submitted_at ?? null,
});
