import { z } from 'zod';
import { CalendarEvent } from '../models/calendar.js';

const time = z.object({
  /** Of an event that lasts whole days. */
  date: z.string().optional(),
  dateTime: z.string().optional(),
  timeZone: z.string().optional(),
});

const attendee = z.object({
  email: z.string().optional(),
  displayName: z.string().optional(),
  responseStatus: z.enum(['needsAction', 'declined', 'tentative', 'accepted']).optional(),
});

/** An event as Google returns it. Of a cancelled one only the id is certain. */
export const GoogleEvent = z.object({
  id: z.string(),
  status: z.enum(['confirmed', 'tentative', 'cancelled']).optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  location: z.string().optional(),
  start: time.optional(),
  end: time.optional(),
  organizer: z.object({ email: z.string().optional() }).optional(),
  attendees: z.array(attendee).optional(),
  hangoutLink: z.string().optional(),
  htmlLink: z.string().optional(),
  recurrence: z.array(z.string()).optional(),
  recurringEventId: z.string().optional(),
  created: z.string().optional(),
  updated: z.string().optional(),
});
export type GoogleEvent = z.infer<typeof GoogleEvent>;

/** An event, or a series of events with its rules. */
export const RecurringEvent = CalendarEvent.extend({
  /** Lines of RFC 5545, such as `RRULE:FREQ=WEEKLY`; empty: the event happens once. */
  recurrence: z.array(z.string()),
  /** The series of which this event is an exception. */
  series_id: z.string().nullable(),
});
export type RecurringEvent = z.infer<typeof RecurringEvent>;

const responses = {
  needsAction: 'none',
  declined: 'declined',
  tentative: 'tentative',
  accepted: 'accepted',
} as const;

export const eventOf = (event: GoogleEvent, calendarId: string): RecurringEvent => ({
  id: event.id,
  calendar_id: calendarId,
  title: event.summary ?? '',
  description: event.description ?? null,
  location: event.location ?? null,
  status: event.status ?? 'confirmed',
  is_all_day: event.start?.date !== undefined,
  start: event.start?.dateTime ?? event.start?.date ?? '',
  end: event.end?.dateTime ?? event.end?.date ?? null,
  organizer_email: event.organizer?.email ?? null,
  attendees: (event.attendees ?? []).map(({ email, displayName, responseStatus }) => ({
    email: email ?? null,
    name: displayName ?? null,
    response: responses[responseStatus ?? 'needsAction'],
  })),
  meeting_url: event.hangoutLink ?? null,
  url: event.htmlLink ?? null,
  created_at: event.created ?? null,
  updated_at: event.updated ?? null,
  recurrence: event.recurrence ?? [],
  series_id: event.recurringEventId ?? null,
});
