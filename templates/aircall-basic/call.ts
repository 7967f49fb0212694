import { z } from 'zod';
import { isoOfSeconds } from '../shared/times.js';

/** A call as Aircall returns it. Times are seconds since the epoch. */
export const AircallCall = z.object({
  id: z.number(),
  direction: z.enum(['inbound', 'outbound']),
  /** `initial`, `answered` or `done`. */
  status: z.string(),
  missed_call_reason: z.string().nullish(),
  started_at: z.number(),
  answered_at: z.number().nullish(),
  ended_at: z.number().nullish(),
  /** Seconds, with the time of ringing. */
  duration: z.number().nullish(),
  raw_digits: z.string().nullish(),
  user: z.object({ id: z.number() }).nullish(),
  contact: z.object({ id: z.number() }).nullish(),
  number: z.object({ id: z.number(), digits: z.string().nullish() }).nullish(),
  tags: z.array(z.object({ name: z.string() })).nullish(),
  comments: z.array(z.object({ content: z.string() })).nullish(),
});
export type AircallCall = z.infer<typeof AircallCall>;

export const Call = z.object({
  id: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  status: z.string(),
  missed_reason: z.string().nullable(),
  /** Of the other side. */
  phone: z.string().nullable(),
  /** Of the company. */
  number: z.string().nullable(),
  user_id: z.string().nullable(),
  contact_id: z.string().nullable(),
  tags: z.array(z.string()),
  comments: z.array(z.string()),
  /** Seconds. */
  duration: z.number().nullable(),
  started_at: z.string().nullable(),
  answered_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
export type Call = z.infer<typeof Call>;

/** In place of a number that the caller does not show. */
const withheld = 'anonymous';

export const callOf = (call: AircallCall): Call => ({
  id: String(call.id),
  direction: call.direction,
  status: call.status,
  missed_reason: call.missed_call_reason ?? null,
  phone: call.raw_digits === withheld ? null : (call.raw_digits ?? null),
  number: call.number?.digits ?? null,
  user_id: idText(call.user?.id),
  contact_id: idText(call.contact?.id),
  tags: (call.tags ?? []).map(({ name }) => name),
  comments: (call.comments ?? []).map(({ content }) => content),
  duration: call.duration ?? null,
  started_at: isoOfSeconds(call.started_at),
  answered_at: isoOfSeconds(call.answered_at),
  ended_at: isoOfSeconds(call.ended_at),
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);
