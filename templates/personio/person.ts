import { z } from 'zod';
import type { Employee } from '../models/hr.js';

/** A person as version 2 of Personio's API returns it. Position and dates are in the employments of the person. */
export const PersonioPerson = z.object({
  id: z.string(),
  email: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  preferred_name: z.string().nullish(),
  status: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type PersonioPerson = z.infer<typeof PersonioPerson>;

export const employeeOf = (person: PersonioPerson): Employee => ({
  id: person.id,
  employee_number: null,
  first_name: person.first_name ?? null,
  last_name: person.last_name ?? null,
  display_name: person.preferred_name ?? null,
  work_email: person.email ?? null,
  personal_email: null,
  phone: null,
  job_title: null,
  department: null,
  location: null,
  manager_id: null,
  status: person.status === 'INACTIVE' ? 'inactive' : 'active',
  start_date: null,
  end_date: null,
  updated_at: person.updated_at ?? null,
});
