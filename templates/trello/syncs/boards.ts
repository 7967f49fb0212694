import { createSync } from 'svc';
import { TicketCollection } from '../../models/ticketing.js';
import { boardFields, collectionOf, type TrelloBoard } from '../board.js';

const sync = createSync({
  description: 'All boards of the person, closed ones too; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read'],
  models: { TicketCollection },

  exec: async (svc) => {
    await svc.trackDeletesStart('TicketCollection');
    // Boards come without pages.
    const { data: boards } = await svc.get<TrelloBoard[]>({
      endpoint: '/1/members/me/boards',
      params: { filter: 'all', fields: boardFields.join(',') },
      retries: 5,
    });
    await svc.batchSave(boards.map(collectionOf), 'TicketCollection');
    await svc.trackDeletesEnd('TicketCollection');
  },
});

export default sync;
