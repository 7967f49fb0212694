import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { pagesFrom } from '../../shared/page-tokens.js';
import { nextSince } from '../../shared/since.js';
import { issueFields, ticketOf, type JiraIssue } from '../issue.js';
import { pagesOfSite } from '../site.js';

const dayMs = 86_400_000;
/** Before the first issue of any site: Jira refuses a search without a bound. */
const firstDay = '1970-01-01';

interface SearchPage {
  issues: JiraIssue[];
  /** Left out on the last page. */
  nextPageToken?: string | null;
}

const sync = createSync({
  description:
    'Issues that were changed since the day before the last run; deleted ones are found by a run from the start',
  version: '1.1.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['read:jira-work'],
  models: { Ticket },
  checkpoint: z.object({
    /** Day of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** Of the page at which an interrupted run goes on. */
    token: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    // A search takes days in the zone of the person, which may be a day behind.
    const next = checkpoint?.nextSince ?? dayOf(nextSince() - dayMs);
    const pageOf = await pagesOfSite(svc);
    // A search has no deleted issues: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    const bound = since === '' ? `created >= "${firstDay}"` : `updated >= "${since}"`;
    const pages = pagesFrom(checkpoint?.token ?? '', (nextPageToken) =>
      svc.get<SearchPage>({
        endpoint: '/rest/api/3/search/jql',
        params: {
          // By creation: an issue that changes meanwhile moves no other to a page that was read.
          jql: `${bound} ORDER BY created ASC`,
          fields: issueFields,
          maxResults: 100,
          nextPageToken,
        },
        retries: 5,
      }),
    );
    for await (const { page, pageToken: token } of pages) {
      const tickets = page.issues.map((issue) => ticketOf(issue, pageOf));
      await svc.batchSave(tickets, 'Ticket');
      if (token !== '') await svc.saveCheckpoint({ since, nextSince: next, token });
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

/** The day of a time in milliseconds since the epoch, in UTC. */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length);

export default sync;
