import { z } from 'zod';

/** A call as the list of Gong returns it. */
export const GongCall = z.object({
  id: z.string(),
  url: z.string().nullish(),
  title: z.string().nullish(),
  scheduled: z.string().nullish(),
  started: z.string().nullish(),
  /** Seconds. */
  duration: z.number().nullish(),
  primaryUserId: z.string().nullish(),
  /** `Inbound`, `Outbound`, `Conference` or `Unknown`. */
  direction: z.string().nullish(),
  system: z.string().nullish(),
  /** `Internal`, `External` or `Unknown`. */
  scope: z.string().nullish(),
  language: z.string().nullish(),
  meetingUrl: z.string().nullish(),
  clientUniqueId: z.string().nullish(),
});
export type GongCall = z.infer<typeof GongCall>;

export const Call = z.object({
  id: z.string(),
  title: z.string().nullable(),
  url: z.string().nullable(),
  direction: z.string().nullable(),
  scope: z.string().nullable(),
  /** The system with which the call was held. */
  system: z.string().nullable(),
  language: z.string().nullable(),
  /** The user who hosted it. */
  user_id: z.string().nullable(),
  meeting_url: z.string().nullable(),
  /** Id in the system that recorded it. */
  external_id: z.string().nullable(),
  /** Seconds. */
  duration: z.number().nullable(),
  scheduled_at: z.string().nullable(),
  started_at: z.string().nullable(),
});
export type Call = z.infer<typeof Call>;

export const callOf = (call: GongCall): Call => ({
  id: call.id,
  title: call.title ?? null,
  url: call.url ?? null,
  direction: call.direction ?? null,
  scope: call.scope ?? null,
  system: call.system ?? null,
  language: call.language ?? null,
  user_id: call.primaryUserId ?? null,
  meeting_url: call.meetingUrl ?? null,
  external_id: call.clientUniqueId ?? null,
  duration: call.duration ?? null,
  scheduled_at: call.scheduled ?? null,
  started_at: call.started ?? null,
});
