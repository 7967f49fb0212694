import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A team as Linear returns it, with the fields that `teamsQuery` asks for. */
export const LinearTeam = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  archivedAt: z.string().nullable(),
});
export type LinearTeam = z.infer<typeof LinearTeam>;

export const teamsQuery = `query teams($after: String) {
  teams(first: 100, after: $after, orderBy: createdAt, includeArchived: true) {
    nodes { id key name description archivedAt }
    pageInfo { hasNextPage endCursor }
  }
}`;

export const collectionOf = (team: LinearTeam): TicketCollection => ({
  id: team.id,
  key: team.key,
  name: team.name,
  description: team.description,
  url: null,
  is_archived: team.archivedAt !== null,
});
