import { z } from 'zod';
import type { TimeOff } from '../models/hr.js';

/** A time off request as Deel returns it. */
export const DeelTimeOff = z.object({
  id: z.string(),
  status: z.enum(['REQUESTED', 'APPROVED', 'REJECTED', 'USED', 'CANCELED']),
  start_date: z.string(),
  end_date: z.string(),
  amount: z.number(),
  entitlement_unit: z.string().nullish(),
  description: z.string().nullish(),
  time_off_type: z.object({ name: z.string().nullish() }).nullish(),
  recipient_profile: z.object({ hris_profile_id: z.string() }),
});
export type DeelTimeOff = z.infer<typeof DeelTimeOff>;

const statuses = {
  REQUESTED: 'requested',
  APPROVED: 'approved',
  REJECTED: 'declined',
  // Approved, and past.
  USED: 'approved',
  CANCELED: 'cancelled',
} as const;

const units: Readonly<Record<string, TimeOff['unit']>> = {
  HOUR: 'hours',
  BUSINESS_DAY: 'days',
  CALENDAR_DAY: 'days',
};

/** An amount in weeks, months or years has no unit of the common model, and is left out. */
export function timeOffOf(request: DeelTimeOff): TimeOff {
  const unit = units[request.entitlement_unit ?? ''] ?? null;
  return {
    id: request.id,
    employee_id: request.recipient_profile.hris_profile_id,
    type: request.time_off_type?.name ?? null,
    status: statuses[request.status],
    start_date: request.start_date,
    end_date: request.end_date,
    amount: unit === null ? null : request.amount,
    unit,
    note: request.description ?? null,
  };
}
