import { z } from 'zod';
import type { Calendar } from '../models/calendar.js';

/** An entry of the list of calendars as Google returns it. */
export const GoogleCalendar = z.object({
  id: z.string(),
  summary: z.string().optional(),
  /** The name that the person gave the calendar. */
  summaryOverride: z.string().optional(),
  description: z.string().optional(),
  timeZone: z.string().optional(),
  primary: z.boolean().optional(),
  deleted: z.boolean().optional(),
});
export type GoogleCalendar = z.infer<typeof GoogleCalendar>;

export const calendarOf = (calendar: GoogleCalendar): Calendar => ({
  id: calendar.id,
  name: calendar.summaryOverride ?? calendar.summary ?? calendar.id,
  description: calendar.description ?? null,
  time_zone: calendar.timeZone ?? null,
  is_primary: calendar.primary ?? false,
});
