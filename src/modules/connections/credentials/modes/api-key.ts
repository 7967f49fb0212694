import { z } from 'zod';
import type { Credentials } from '../../connections/state.ts';
import type { AuthModeRules } from './mode.ts';
import { strict } from './shapes.ts';

const apiKey = z.string().min(1).max(1024);

/** A key that the provider's headers or query place with `${apiKey}`; it never expires. */
export const apiKeyMode: AuthModeRules = {
  mode: 'API_KEY',
  integration: null,
  importShape: () => strict({ type: z.literal('API_KEY'), apiKey }),
  import: async (input) => ({ credentials: input as Credentials, expiresAt: null }),
  form: {
    shape: () => strict({ apiKey }),
    submit: async (credentials) => ({
      credentials: { type: 'API_KEY', ...credentials },
      expiresAt: null,
    }),
  },
  redirect: null,
  renewal: null,
  isTested: true,
  authorization: () => null,
};
