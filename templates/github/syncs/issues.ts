import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { ticketOf, type GithubIssue, type GithubIssueEvent } from '../issue.js';

const sync = createSync({
  description:
    'Issues of a repository, by webhooks at once; deletions that no webhook announced are found by a run from the start',
  version: '1.1.1',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['repo'],
  models: { Ticket },
  /** `owner/name` */
  metadata: z.object({ repository: z.string() }),
  checkpoint: z.object({
    /** Of the issues that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),
  /** Those that `register-webhook` asks for. */
  webhookSubscriptions: ['issues'],

  exec: async (svc) => {
    const { repository } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted issues: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    // By creation: an issue that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: `/repos/${repository}/issues`,
      params: { state: 'all', sort: 'created', direction: 'asc', since: since || undefined },
    };
    const pages = svc.paginate<GithubIssue>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        ...(checkpoint?.page === undefined
          ? { limit_name_in_request: 'per_page', limit: 100 }
          : {}),
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      const issues = page.filter((issue) => issue.pull_request === undefined);
      await svc.batchSave(
        issues.map((issue) => ticketOf(issue, repository)),
        'Ticket',
      );
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },

  // Beside a run: the next one reads what has changed since the last, and corrects what came out of order.
  onWebhook: async (svc, { action, issue, repository }: GithubIssueEvent) => {
    const ticket = ticketOf(issue, repository.full_name);
    // A transferred issue has another id in its new repository.
    const isGone = action === 'deleted' || action === 'transferred';
    if (isGone) await svc.batchDelete([{ id: ticket.id }], 'Ticket');
    else await svc.batchSave([ticket], 'Ticket');
  },
});

export default sync;
