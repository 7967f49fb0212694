import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket, ticketOf, type ZendeskTicket } from '../ticket.js';

const sync = createSync({
  description: 'Tickets: all of them once, afterwards those named by webhooks',
  version: '1.0.0',
  frequency: 'every day',
  autoStart: true,
  models: { Ticket },
  checkpoint: z.object({ page: z.string() }),
  webhookSubscriptions: ['ticket.updated', 'ticket.deleted'],

  exec: async (svc) => {
    const pages = svc.paginate<ZendeskTicket>({
      endpoint: '/api/v2/tickets.json',
      params: { 'page[size]': 2 },
      paginate: {
        type: 'link',
        link_path_in_response_body: 'links.next',
        response_path: 'tickets',
        on_page: async ({ nextPageParam }) => {
          if (nextPageParam === undefined) await svc.clearCheckpoint();
          else await svc.saveCheckpoint({ page: String(nextPageParam) });
        },
      },
      retries: 3,
    });
    for await (const tickets of pages) await svc.batchSave(tickets.map(ticketOf), 'Ticket');
  },

  onWebhook: async (svc, payload: { type: string; detail: ZendeskTicket }) => {
    const ticket = ticketOf(payload.detail);
    if (payload.type === 'ticket.deleted') await svc.batchDelete([ticket], 'Ticket');
    else await svc.batchSave([ticket], 'Ticket');
  },
});

export default sync;
