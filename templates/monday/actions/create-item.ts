import { createAction } from 'svc';
import { z } from 'zod';
import { request } from '../graphql.js';

const mutation = `mutation createItem($board: ID!, $group: String, $name: String!) {
  create_item(board_id: $board, group_id: $group, item_name: $name) { id url }
}`;

const action = createAction({
  description: 'Creates an item in a board',
  version: '1.0.1',
  scopes: ['boards:write'],
  input: z.object({
    board_id: z.string().min(1),
    name: z.string().min(1),
    /** Default: the group at the top. */
    group_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    const { create_item: item } = await request<{ create_item: { id: string; url: string } }>(svc, {
      name: 'createItem',
      query: mutation,
      variables: { board: input.board_id, group: input.group_id, name: input.name },
      retries: 3,
      idempotencyKey: crypto.randomUUID(),
    });
    return item;
  },
});

export default action;
