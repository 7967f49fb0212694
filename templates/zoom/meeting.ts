import { z } from 'zod';

/** A meeting as Zoom lists it. */
export const ZoomApiMeeting = z.object({
  /** The number with which people join. */
  id: z.number(),
  uuid: z.string(),
  host_id: z.string(),
  topic: z.string(),
  /** The list cuts it to 250 characters. */
  agenda: z.string().nullish(),
  /** 2: scheduled; 3: recurring without a fixed time; 8: recurring with one. */
  type: z.number(),
  /** Left out where there is no fixed time. */
  start_time: z.string().nullish(),
  /** In minutes. */
  duration: z.number().nullish(),
  timezone: z.string().nullish(),
  join_url: z.string(),
  created_at: z.string(),
});
export type ZoomApiMeeting = z.infer<typeof ZoomApiMeeting>;

export const ZoomMeeting = z.object({
  id: z.string(),
  uuid: z.string(),
  title: z.string(),
  /** At most 250 characters. */
  description: z.string().nullable(),
  is_recurring: z.boolean(),
  start: z.string().nullable(),
  duration_minutes: z.number().nullable(),
  time_zone: z.string().nullable(),
  host_id: z.string(),
  meeting_url: z.string(),
  created_at: z.string(),
});
export type ZoomMeeting = z.infer<typeof ZoomMeeting>;

const recurring = [3, 8];

export const meetingOf = (meeting: ZoomApiMeeting): ZoomMeeting => ({
  id: String(meeting.id),
  uuid: meeting.uuid,
  title: meeting.topic,
  description: meeting.agenda || null,
  is_recurring: recurring.includes(meeting.type),
  start: meeting.start_time || null,
  duration_minutes: meeting.duration ?? null,
  time_zone: meeting.timezone || null,
  host_id: meeting.host_id,
  meeting_url: meeting.join_url,
  created_at: meeting.created_at,
});
