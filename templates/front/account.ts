import { z } from 'zod';
import type { Company } from '../models/crm.js';
import { isoOfSeconds } from '../shared/times.js';

/** An account as Front returns it. */
export const FrontAccount = z.object({
  id: z.string(),
  name: z.string(),
  domains: z.array(z.string()).nullish(),
  /** Seconds since the epoch. */
  created_at: z.number().nullish(),
  updated_at: z.number().nullish(),
});
export type FrontAccount = z.infer<typeof FrontAccount>;

export const companyOf = (account: FrontAccount): Company => ({
  id: account.id,
  name: account.name,
  domain: account.domains?.[0] ?? null,
  phone: null,
  industry: null,
  employee_count: null,
  owner_id: null,
  created_at: isoOfSeconds(account.created_at),
  updated_at: isoOfSeconds(account.updated_at),
});
