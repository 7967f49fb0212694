import { z } from 'zod';

export const Contact = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  company: z.string(),
  updatedAt: z.string(),
});
export type Contact = z.infer<typeof Contact>;

/** A contact as the demo provider sends it. */
export interface SentContact {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly updated_at: string;
}

export const contactOf = ({ updated_at: updatedAt, ...rest }: SentContact): Contact => ({
  ...rest,
  updatedAt,
});
