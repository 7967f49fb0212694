import { z } from 'zod';

/** A label as Gmail lists it. */
export const GmailApiLabel = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['system', 'user']),
  messageListVisibility: z.enum(['show', 'hide']).optional(),
  labelListVisibility: z.enum(['labelShow', 'labelShowIfUnread', 'labelHide']).optional(),
});
export type GmailApiLabel = z.infer<typeof GmailApiLabel>;

export const GmailLabel = z.object({
  id: z.string(),
  /** Of a label below another with the names of both: `Work/Plans`. */
  name: z.string(),
  /** Made by Gmail, such as `INBOX`. */
  is_system: z.boolean(),
  is_hidden: z.boolean(),
});
export type GmailLabel = z.infer<typeof GmailLabel>;

export const labelOf = (label: GmailApiLabel): GmailLabel => ({
  id: label.id,
  name: label.name,
  is_system: label.type === 'system',
  is_hidden: label.labelListVisibility === 'labelHide',
});
