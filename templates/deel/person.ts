import { z } from 'zod';
import type { Employee } from '../models/hr.js';

/** A person as Deel returns it: employees and contractors. */
export const DeelPerson = z.object({
  id: z.string(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  full_name: z.string().nullish(),
  emails: z.array(z.object({ type: z.string().nullish(), value: z.string().nullish() })).nullish(),
  job_title: z.string().nullish(),
  department: z.object({ name: z.string().nullish() }).nullish(),
  work_location: z.string().nullish(),
  direct_manager: z.object({ id: z.string().nullish() }).nullish(),
  external_id: z.string().nullish(),
  hiring_status: z.string().nullish(),
  start_date: z.string().nullish(),
  completion_date: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type DeelPerson = z.infer<typeof DeelPerson>;

export const employeeOf = (person: DeelPerson): Employee => ({
  id: person.id,
  employee_number: person.external_id ?? null,
  first_name: person.first_name ?? null,
  last_name: person.last_name ?? null,
  display_name: person.full_name ?? null,
  work_email: emailOf(person, 'work'),
  personal_email: emailOf(person, 'personal'),
  phone: null,
  job_title: person.job_title ?? null,
  department: person.department?.name ?? null,
  location: person.work_location ?? null,
  manager_id: person.direct_manager?.id ?? null,
  status: statusOf(person.hiring_status ?? ''),
  start_date: person.start_date ?? null,
  end_date: person.completion_date ?? null,
  updated_at: person.updated_at ?? null,
});

const emailOf = ({ emails }: DeelPerson, type: string): string | null =>
  emails?.find((email) => email.type === type)?.value ?? null;

function statusOf(hiringStatus: string): Employee['status'] {
  if (hiringStatus === 'inactive') return 'inactive';
  return hiringStatus === 'active' || hiringStatus === 'offboarding' ? 'active' : 'pending';
}
