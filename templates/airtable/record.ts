import { z } from 'zod';

/** A record of a table as Airtable returns it. Fields without a value are left out. */
export const AirtableApiRecord = z.object({
  id: z.string(),
  createdTime: z.string(),
  /** By the names of the fields. */
  fields: z.record(z.string(), z.unknown()),
});
export type AirtableApiRecord = z.infer<typeof AirtableApiRecord>;

export const AirtableRecord = z.object({
  id: z.string(),
  table_id: z.string(),
  fields: z.record(z.string(), z.unknown()),
  created_at: z.string(),
});
export type AirtableRecord = z.infer<typeof AirtableRecord>;

/** @param tableId the table that holds the record */
export const recordOf = (record: AirtableApiRecord, tableId: string): AirtableRecord => ({
  id: record.id,
  table_id: tableId,
  fields: record.fields,
  created_at: record.createdTime,
});

/** An error as Airtable returns it: a code, or an object with it. */
export interface Refusal {
  response?: {
    status?: number;
    data?: { error?: string | { type?: string; message?: string } };
  };
}

export function codeOf(error: unknown): string | undefined {
  const { error: refused } = (error as Refusal).response?.data ?? {};
  return typeof refused === 'string' ? refused : refused?.type;
}
