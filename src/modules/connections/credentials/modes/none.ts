import { z } from 'zod';
import type { AuthModeRules, ObtainedCredentials } from './mode.ts';
import { strict } from './shapes.ts';

const nothing: ObtainedCredentials = { credentials: null, expiresAt: null };

/** Stores and injects nothing. */
export const none: AuthModeRules = {
  mode: 'NONE',
  integration: null,
  importShape: () => strict({ type: z.literal('NONE') }),
  import: async () => nothing,
  form: { shape: () => strict({}), submit: async () => nothing },
  redirect: null,
  renewal: null,
  isTested: false,
  authorization: () => null,
};
