import { z } from 'zod';
import type { Company } from '../models/crm.js';

/** An account as Salesloft returns it. */
export const SalesloftAccount = z.object({
  id: z.number(),
  name: z.string().nullish(),
  domain: z.string().nullish(),
  phone: z.string().nullish(),
  industry: z.string().nullish(),
  /** Estimated number of employees. */
  size: z.string().nullish(),
  owner: z.object({ id: z.number() }).nullish(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type SalesloftAccount = z.infer<typeof SalesloftAccount>;

export const companyOf = (account: SalesloftAccount): Company => ({
  id: String(account.id),
  name: account.name ?? '',
  domain: account.domain ?? null,
  phone: account.phone ?? null,
  industry: account.industry ?? null,
  employee_count: /^\d+$/.test(account.size ?? '') ? Number(account.size) : null,
  owner_id: account.owner ? String(account.owner.id) : null,
  created_at: account.created_at,
  updated_at: account.updated_at,
});
