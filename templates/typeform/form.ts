import { z } from 'zod';

/** A form as the list of Typeform returns it. */
export const TypeformForm = z.object({
  id: z.string(),
  title: z.string(),
  settings: z.object({ is_public: z.boolean().nullish() }).nullish(),
  created_at: z.string().nullish(),
  last_updated_at: z.string().nullish(),
  _links: z.object({ display: z.string().nullish() }).nullish(),
});
export type TypeformForm = z.infer<typeof TypeformForm>;

export const Form = z.object({
  id: z.string(),
  title: z.string(),
  is_public: z.boolean().nullable(),
  /** Where people fill it in. */
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Form = z.infer<typeof Form>;

export const formOf = (form: TypeformForm): Form => ({
  id: form.id,
  title: form.title,
  is_public: form.settings?.is_public ?? null,
  url: form._links?.display ?? null,
  created_at: form.created_at ?? null,
  updated_at: form.last_updated_at ?? null,
});
