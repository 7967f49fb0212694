import { z } from 'zod';
import type { Employee } from '../models/hr.js';

/** An employee as BambooHR lists it with `employeeFields`. A field that the key may not read is null. */
export const BamboohrEmployee = z.object({
  employeeId: z.string(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  preferredName: z.string().nullish(),
  jobTitleName: z.string().nullish(),
  status: z.string().nullish(),
  workEmail: z.string().nullish(),
  mobilePhone: z.string().nullish(),
  departmentName: z.string().nullish(),
  locationName: z.string().nullish(),
  hireDate: z.string().nullish(),
});
export type BamboohrEmployee = z.infer<typeof BamboohrEmployee>;

/** What the list returns beside its default fields. */
export const employeeFields = [
  'workEmail',
  'mobilePhone',
  'departmentName',
  'locationName',
  'hireDate',
] as const;

export const employeeOf = (employee: BamboohrEmployee): Employee => ({
  id: employee.employeeId,
  employee_number: null,
  first_name: employee.firstName ?? null,
  last_name: employee.lastName ?? null,
  display_name: employee.preferredName ?? null,
  work_email: employee.workEmail ?? null,
  personal_email: null,
  phone: employee.mobilePhone ?? null,
  job_title: employee.jobTitleName ?? null,
  department: employee.departmentName ?? null,
  location: employee.locationName ?? null,
  manager_id: null,
  status: employee.status?.toLowerCase() === 'inactive' ? 'inactive' : 'active',
  start_date: employee.hireDate ?? null,
  end_date: null,
  updated_at: null,
});
