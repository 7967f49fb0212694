import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

interface Response {
  result: [{ id: number; rowNumber: number }];
}

const refusals = new Map([
  [400, 'row_refused'],
  [404, 'sheet_not_found'],
]);

const action = createAction({
  description: 'Adds a row at the end of a sheet',
  version: '1.0.0',
  scopes: ['WRITE_SHEETS'],
  input: z.object({
    sheet_id: z.string().min(1),
    cells: z
      .array(
        z.object({
          column_id: z.string().regex(/^\d+$/),
          value: z.union([z.string(), z.number(), z.boolean()]),
        }),
      )
      .min(1),
  }),
  output: z.object({ id: z.string(), number: z.number() }),

  exec: async (svc, { sheet_id: sheetId, cells }) => {
    try {
      const { data } = await svc.post<Response>({
        endpoint: `/sheets/${encodeURIComponent(sheetId)}/rows`,
        data: [
          {
            toBottom: true,
            cells: cells.map(({ column_id: id, value }) => ({ columnId: Number(id), value })),
          },
        ],
        retries: 3,
      });
      const [row] = data.result;
      return { id: String(row.id), number: row.rowNumber };
    } catch (error) {
      const { status = 0, data } = (error as Refusal).response ?? {};
      const type = refusals.get(status);
      if (type === undefined) throw error;
      throw new svc.ActionError({ type, message: data?.message ?? 'Smartsheet refuses the row' });
    }
  },
});

export default action;
