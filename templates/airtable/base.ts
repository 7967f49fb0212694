import { z } from 'zod';

/** A base as Airtable lists it. */
export const AirtableApiBase = z.object({
  id: z.string(),
  name: z.string(),
  permissionLevel: z.enum(['none', 'read', 'comment', 'edit', 'create']),
});
export type AirtableApiBase = z.infer<typeof AirtableApiBase>;

export const AirtableBase = z.object({
  id: z.string(),
  name: z.string(),
  permission: z.enum(['none', 'read', 'comment', 'edit', 'create']),
  url: z.string(),
});
export type AirtableBase = z.infer<typeof AirtableBase>;

export const baseOf = (base: AirtableApiBase): AirtableBase => ({
  id: base.id,
  name: base.name,
  permission: base.permissionLevel,
  url: `https://airtable.com/${base.id}`,
});
