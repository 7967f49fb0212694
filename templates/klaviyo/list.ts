import { z } from 'zod';

/** A list as Klaviyo returns it. */
export const KlaviyoList = z.object({
  id: z.string(),
  attributes: z.object({
    name: z.string().nullish(),
    created: z.string().nullish(),
    updated: z.string().nullish(),
    opt_in_process: z.enum(['double_opt_in', 'single_opt_in']).nullish(),
  }),
});
export type KlaviyoList = z.infer<typeof KlaviyoList>;

/** A list of profiles to which campaigns are sent. */
export const MailingList = z.object({
  id: z.string(),
  name: z.string(),
  opt_in: z.enum(['single', 'double']).nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type MailingList = z.infer<typeof MailingList>;

const optIns = { single_opt_in: 'single', double_opt_in: 'double' } as const;

export const mailingListOf = ({ id, attributes }: KlaviyoList): MailingList => ({
  id,
  name: attributes.name ?? '',
  opt_in: attributes.opt_in_process ? optIns[attributes.opt_in_process] : null,
  created_at: attributes.created ?? null,
  updated_at: attributes.updated ?? null,
});
