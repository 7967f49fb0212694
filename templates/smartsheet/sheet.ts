import { z } from 'zod';

/** A sheet as Smartsheet lists it. */
export const SmartsheetApiSheet = z.object({
  id: z.number(),
  name: z.string(),
  accessLevel: z.string(),
  permalink: z.string(),
  createdAt: z.string(),
  modifiedAt: z.string(),
});
export type SmartsheetApiSheet = z.infer<typeof SmartsheetApiSheet>;

export const SmartsheetSheet = z.object({
  id: z.string(),
  name: z.string(),
  /** Of the person: `OWNER`, `ADMIN`, `EDITOR` and others. */
  access_level: z.string(),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type SmartsheetSheet = z.infer<typeof SmartsheetSheet>;

export const sheetOf = (sheet: SmartsheetApiSheet): SmartsheetSheet => ({
  id: String(sheet.id),
  name: sheet.name,
  access_level: sheet.accessLevel,
  url: sheet.permalink,
  created_at: sheet.createdAt,
  updated_at: sheet.modifiedAt,
});
