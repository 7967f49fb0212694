import { z } from 'zod';

/** An event as Calendly returns it. Objects are named by their addresses. */
export const CalendlyApiEvent = z.object({
  uri: z.string(),
  name: z.string().nullable(),
  status: z.enum(['active', 'canceled']),
  start_time: z.string(),
  end_time: z.string(),
  event_type: z.string().nullish(),
  /** The fields depend on the type: a place, a telephone number, a link. */
  location: z
    .object({
      type: z.string(),
      location: z.string().nullish(),
      join_url: z.string().nullish(),
    })
    .nullish(),
  invitees_counter: z.object({ total: z.number(), active: z.number(), limit: z.number() }),
  event_memberships: z.array(
    z.object({
      user: z.string(),
      user_email: z.string().nullish(),
      user_name: z.string().nullish(),
    }),
  ),
  event_guests: z.array(z.object({ email: z.string() })),
  cancellation: z
    .object({ canceled_by: z.string(), reason: z.string().nullable(), canceler_type: z.string() })
    .optional(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CalendlyApiEvent = z.infer<typeof CalendlyApiEvent>;

export const CalendlyEvent = z.object({
  id: z.string(),
  name: z.string().nullable(),
  status: z.enum(['active', 'canceled']),
  start: z.string(),
  end: z.string(),
  event_type_id: z.string().nullable(),
  location_type: z.string().nullable(),
  location: z.string().nullable(),
  meeting_url: z.string().nullable(),
  hosts: z.array(
    z.object({ id: z.string(), email: z.string().nullable(), name: z.string().nullable() }),
  ),
  guest_emails: z.array(z.string()),
  /** Those that have not canceled. */
  invitee_count: z.number(),
  invitee_limit: z.number(),
  canceled_by: z.string().nullable(),
  cancel_reason: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CalendlyEvent = z.infer<typeof CalendlyEvent>;

/** The last segment of an address. */
const idOf = (uri: string): string => uri.slice(uri.lastIndexOf('/') + 1);

export const eventOf = (event: CalendlyApiEvent): CalendlyEvent => ({
  id: idOf(event.uri),
  name: event.name,
  status: event.status,
  start: event.start_time,
  end: event.end_time,
  event_type_id: event.event_type ? idOf(event.event_type) : null,
  location_type: event.location?.type ?? null,
  location: event.location?.location ?? null,
  meeting_url: event.location?.join_url ?? null,
  hosts: event.event_memberships.map((host) => ({
    id: idOf(host.user),
    email: host.user_email ?? null,
    name: host.user_name ?? null,
  })),
  guest_emails: event.event_guests.map(({ email }) => email),
  invitee_count: event.invitees_counter.active,
  invitee_limit: event.invitees_counter.limit,
  canceled_by: event.cancellation?.canceled_by ?? null,
  cancel_reason: event.cancellation?.reason ?? null,
  created_at: event.created_at,
  updated_at: event.updated_at,
});
