import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A board as Trello returns it, with the fields that `boardFields` asks for. */
export const TrelloBoard = z.object({
  id: z.string(),
  name: z.string(),
  desc: z.string(),
  closed: z.boolean(),
  url: z.string(),
});
export type TrelloBoard = z.infer<typeof TrelloBoard>;

export const boardFields = Object.keys(TrelloBoard.shape);

export const collectionOf = (board: TrelloBoard): TicketCollection => ({
  id: board.id,
  key: null,
  name: board.name,
  description: board.desc || null,
  url: board.url,
  is_archived: board.closed,
});
