import { z } from 'zod';

/** Common models of HR systems. */

export const Employee = z.object({
  id: z.string(),
  /** The number that the company gives. */
  employee_number: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  display_name: z.string().nullable(),
  work_email: z.string().nullable(),
  personal_email: z.string().nullable(),
  phone: z.string().nullable(),
  job_title: z.string().nullable(),
  department: z.string().nullable(),
  location: z.string().nullable(),
  manager_id: z.string().nullable(),
  status: z.enum(['active', 'inactive', 'pending']),
  /** ISO 8601 date. */
  start_date: z.string().nullable(),
  end_date: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Employee = z.infer<typeof Employee>;

export const TimeOff = z.object({
  id: z.string(),
  employee_id: z.string(),
  /** As the provider calls it: vacation, sick leave … */
  type: z.string().nullable(),
  status: z.enum(['requested', 'approved', 'declined', 'cancelled']),
  /** ISO 8601 date. */
  start_date: z.string(),
  end_date: z.string(),
  amount: z.number().nullable(),
  unit: z.enum(['days', 'hours']).nullable(),
  note: z.string().nullable(),
});
export type TimeOff = z.infer<typeof TimeOff>;
