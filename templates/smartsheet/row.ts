import { z } from 'zod';

const cellValue = z.union([z.string(), z.number(), z.boolean()]);

/** A column of a sheet. */
export const SmartsheetColumn = z.object({ id: z.number(), title: z.string() });
export type SmartsheetColumn = z.infer<typeof SmartsheetColumn>;

/** A row as Smartsheet returns it. */
export const SmartsheetApiRow = z.object({
  id: z.number(),
  rowNumber: z.number(),
  parentId: z.number().optional(),
  /** An empty cell has no value. */
  cells: z.array(z.object({ columnId: z.number(), value: cellValue.optional() })),
  createdAt: z.string(),
  modifiedAt: z.string(),
});
export type SmartsheetApiRow = z.infer<typeof SmartsheetApiRow>;

export const SmartsheetRow = z.object({
  id: z.string(),
  sheet_id: z.string(),
  number: z.number(),
  parent_id: z.string().nullable(),
  /** By the titles of the columns. */
  values: z.record(z.string(), cellValue.nullable()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type SmartsheetRow = z.infer<typeof SmartsheetRow>;

export function rowOf(
  row: SmartsheetApiRow,
  sheetId: string,
  columns: readonly SmartsheetColumn[],
): SmartsheetRow {
  const titles = new Map(columns.map(({ id, title }) => [id, title]));
  return {
    id: String(row.id),
    sheet_id: sheetId,
    number: row.rowNumber,
    parent_id: row.parentId === undefined ? null : String(row.parentId),
    values: Object.fromEntries(
      row.cells.map(({ columnId, value }) => [
        titles.get(columnId) ?? String(columnId),
        value ?? null,
      ]),
    ),
    created_at: row.createdAt,
    updated_at: row.modifiedAt,
  };
}
