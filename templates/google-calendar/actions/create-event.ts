import { createAction } from 'svc';
import { z } from 'zod';

const notFound = 404;
const conflict = 409;

interface EventAccess {
  id: string;
  htmlLink?: string;
}

/** A date lasts the whole day; Google wants the day after the last as end. */
const timeOf = (time: string) => (time.includes('T') ? { dateTime: time } : { date: time });

const updatesOf = (sendsInvitations: boolean | undefined) =>
  sendsInvitations === undefined ? {} : { sendUpdates: sendsInvitations ? 'all' : 'none' };

const action = createAction({
  description: 'Creates an event in a calendar',
  version: '1.0.2',
  scopes: ['https://www.googleapis.com/auth/calendar.events'],
  input: z.object({
    /** Default: the calendar of the person. */
    calendar_id: z.string().min(1).optional(),
    title: z.string().min(1),
    description: z.string().optional(),
    location: z.string().optional(),
    /** With offset, or a date. */
    start: z.union([z.iso.datetime({ offset: true }), z.iso.date()]),
    /** As `start`; the day after the last one for whole days. */
    end: z.union([z.iso.datetime({ offset: true }), z.iso.date()]),
    attendee_emails: z.array(z.email()).optional(),
    /**
     * Whether the attendees get an invitation by mail. Google warns of `false`: the event may not reach calendars
     * elsewhere. Default: that of Google.
     */
    sends_invitations: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, input) => {
    const calendarId = input.calendar_id ?? 'primary';
    const endpoint = `/calendars/${encodeURIComponent(calendarId)}/events`;
    // A repeated attempt creates no second event.
    const id = crypto.randomUUID().replaceAll('-', '');
    try {
      const { data } = await svc.post<EventAccess>({
        endpoint,
        params: updatesOf(input.sends_invitations),
        data: {
          id,
          summary: input.title,
          description: input.description,
          location: input.location,
          start: timeOf(input.start),
          end: timeOf(input.end),
          attendees: input.attendee_emails?.map((email) => ({ email })),
        },
        retries: 3,
      });
      return { id: data.id, url: data.htmlLink ?? null };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status === conflict) {
        // An earlier attempt created it, although its response was lost.
        const { data } = await svc.get<EventAccess>({ endpoint: `${endpoint}/${id}`, retries: 3 });
        return { id: data.id, url: data.htmlLink ?? null };
      }
      if (status !== notFound) throw error;
      const message = `There is no calendar ${calendarId}`;
      throw new svc.ActionError({ type: 'calendar_not_found', message });
    }
  },
});

export default action;
