import { z } from 'zod';
import type { TimeOff } from '../models/hr.js';

/** A time off request as BambooHR returns it. */
export const BamboohrTimeOff = z.object({
  /** A number, or its text. */
  id: z.union([z.string(), z.number()]),
  employeeId: z.union([z.string(), z.number()]),
  status: z.object({
    status: z.enum(['approved', 'denied', 'superceded', 'requested', 'canceled']),
  }),
  start: z.string(),
  end: z.string(),
  type: z.object({ name: z.string() }).nullish(),
  amount: z.object({ unit: z.string(), amount: z.union([z.string(), z.number()]) }).nullish(),
  notes: z.object({ employee: z.string().nullish(), manager: z.string().nullish() }).nullish(),
});
export type BamboohrTimeOff = z.infer<typeof BamboohrTimeOff>;

const statuses = {
  approved: 'approved',
  denied: 'declined',
  superceded: 'cancelled',
  requested: 'requested',
  canceled: 'cancelled',
} as const;

export const timeOffOf = (request: BamboohrTimeOff): TimeOff => ({
  id: String(request.id),
  employee_id: String(request.employeeId),
  type: request.type?.name ?? null,
  status: statuses[request.status.status],
  start_date: request.start,
  end_date: request.end,
  amount: request.amount ? Number(request.amount.amount) : null,
  unit: request.amount ? unitOf(request.amount.unit) : null,
  note: request.notes?.employee ?? request.notes?.manager ?? null,
});

const unitOf = (unit: string): TimeOff['unit'] =>
  unit === 'days' || unit === 'hours' ? unit : null;
