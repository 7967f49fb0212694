import { z } from 'zod';

/** Common models of calendars and meetings. */

export const CalendarEvent = z.object({
  id: z.string(),
  calendar_id: z.string().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  location: z.string().nullable(),
  status: z.enum(['confirmed', 'tentative', 'cancelled']),
  is_all_day: z.boolean(),
  /** ISO 8601, with the offset of the provider; a date for a whole day. */
  start: z.string(),
  end: z.string().nullable(),
  organizer_email: z.string().nullable(),
  attendees: z.array(
    z.object({
      email: z.string().nullable(),
      name: z.string().nullable(),
      response: z.enum(['accepted', 'declined', 'tentative', 'none']),
    }),
  ),
  meeting_url: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type CalendarEvent = z.infer<typeof CalendarEvent>;

export const Calendar = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  time_zone: z.string().nullable(),
  is_primary: z.boolean(),
});
export type Calendar = z.infer<typeof Calendar>;
